import { memoryAllocations } from "../../support/doubles/memory/costs/allocations.ts";
import { allocationsSuite } from "../suites/allocations.suite.ts";

allocationsSuite("in memory", async () => {
  const allocations = memoryAllocations();
  return {
    allocations,
    knows: allocations.knows,
    fails: (isFailing) => allocations.fails(() => isFailing),
    stop: async () => undefined,
  };
});

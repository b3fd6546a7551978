import { memoryCostMonitor } from "../../support/doubles/memory/costs/cost-monitor.ts";
import { allocationsSuite } from "../suites/cost-monitor.suite.ts";

allocationsSuite("in memory", async () => {
  const allocations = memoryCostMonitor();
  return {
    allocations,
    knows: allocations.knows,
    fails: (isFailing) => allocations.fails(() => isFailing),
    stop: async () => undefined,
  };
});

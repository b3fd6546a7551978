import { memoryCostMonitor } from "../../support/doubles/memory/costs/cost-monitor.ts";
import { costMonitorSuite } from "../suites/cost-monitor.suite.ts";

costMonitorSuite("in memory", async () => {
  const allocations = memoryCostMonitor();
  return {
    allocations,
    knows: allocations.knows,
    fails: (isFailing) => allocations.fails(() => isFailing),
    stop: async () => undefined,
  };
});

import type { AllocatedCost } from "../../crds/usage/allocations.ts";
import type { Period } from "../../crds/usage/period-summary.ts";

/** Source of the costs of the cluster's resources. Throws CostMonitorUnavailable. */
export interface CostMonitor {
  /** Allocation in the period, in whole seconds, by namespace. A missing one had nothing, or is unknown. */
  byNamespace(period: Period, signal: AbortSignal): Promise<ReadonlyMap<string, AllocatedCost>>;
  close(): Promise<void>;
}

/** No answer, or one that can't be parsed. */
export class CostMonitorUnavailable extends Error {
  override readonly name = "CostMonitorUnavailable";
}

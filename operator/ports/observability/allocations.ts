import type { AllocatedCost } from "../../../crds/environment/costs/allocations.ts";
import type { Period } from "./period.ts";

/** Asks a cost monitor what the cluster's resources cost. */
export interface Allocations {
  /**
   * What was allocated in the period, of whole seconds, by namespace. One that is left out had nothing, or nothing is
   * known of it.
   *
   * @throws AllocationsUnavailable
   */
  byNamespace(period: Period, signal: AbortSignal): Promise<ReadonlyMap<string, AllocatedCost>>;

  /** Ends its connections. */
  close(): Promise<void>;
}

/** It did not answer, or nothing that is understood. */
export class AllocationsUnavailable extends Error {
  override readonly name = "AllocationsUnavailable";
}

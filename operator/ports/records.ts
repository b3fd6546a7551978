import type { Allocations } from "../../crds/environment/costs/allocations.ts";
import type { RecordSpec } from "../../crds/environment/environment-record.ts";
import type { KeptBounds } from "../kit/surplus.ts";

/**
 * Keeps what remains of deleted environments.
 *
 * Every method throws the kit's KubeError when the API server can't be asked or refuses.
 */
export interface Records {
  /** Writes the record of one environment; the first one that was written stays as it is. */
  keep(record: RecordSpec): Promise<void>;

  /** Keeps beside a record what was allocated to its environment, instead of what was known of that; one that is dropped stays so. */
  allocate(uid: string, allocations: Allocations): Promise<void>;

  /** The record of the environment of that name that was deleted last, by a fresh read; `undefined` without one. */
  newestOf(name: string): Promise<RecordSpec | undefined>;

  /**
   * Deletes what exceeds the bounds, oldest first, one by one and a limited number at a time: `isMoreLeft` when some is left
   * for the next prune. Ends early when the signal aborts.
   */
  prune(bounds: KeptBounds, signal: AbortSignal): Promise<{ readonly dropped: number; readonly isMoreLeft: boolean }>;
}

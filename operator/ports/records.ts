import type { RecordSpec } from "../../crds/environment/environment-record.ts";
import type { Allocations } from "../../crds/usage/allocations.ts";
import type { KeptBounds } from "../kit/surplus.ts";

/** Records of deleted environments. Methods throw the kit's KubeError. */
export interface Records {
  /** Writes an environment's record; the first one stays. */
  keep(record: RecordSpec): Promise<void>;
  /** Replaces the allocation beside a record; a dropped record stays dropped. */
  allocate(uid: string, allocations: Allocations): Promise<void>;
  /** Record of the last deleted environment of that name, by a fresh read; `undefined` without one. */
  newestOf(name: string): Promise<RecordSpec | undefined>;
  /**
   * Deletes the excess, oldest first, one by one and a limited number per call: `isMoreLeft` when some remains. Ends
   * early when the signal aborts.
   */
  prune(bounds: KeptBounds, signal: AbortSignal): Promise<{ readonly dropped: number; readonly isMoreLeft: boolean }>;
}

/** Records of deleted environments, from this process's cache. */
export interface History {
  /** The same list until a record changes. */
  records(): readonly RecordSpec[];
  /** A number that changes with every environment or record, to invalidate results. */
  readonly revision: number;
}

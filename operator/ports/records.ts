import type { RecordSpec } from "../../crds/environment/environment-record.ts";

/** How much is kept of the past. */
export interface RecordBounds {
  readonly atMost: number;
  /** Older ones go, however few there are. */
  readonly notBefore: Date;
}

/** What a prune did. */
export interface Pruned {
  readonly dropped: number;
  /** Whether something still exceeds the bounds: it is for the next prune. */
  readonly isMoreLeft: boolean;
}

/**
 * Keeps what remains of deleted environments.
 *
 * Every method throws the kit's KubeError when the API server can't be asked or refuses.
 */
export interface Records {
  /** Writes the record of one environment; the first one that was written stays as it is. */
  keep(record: RecordSpec): Promise<void>;

  /** Drops what exceeds the bounds, oldest first, one by one and a share at a time. Ends early when the signal aborts. */
  prune(bounds: RecordBounds, signal: AbortSignal): Promise<Pruned>;
}

import type { StoredRollup } from "../observability/rollups.ts";

/** Rollups of counts, from this process's cache. */
export interface Rollups {
  /** A number that changes with the sum of any day. */
  readonly summaryRevision: number;
  /** All days, unordered. */
  days(): readonly Pick<StoredRollup, "day" | "slots" | "summary">[];
}

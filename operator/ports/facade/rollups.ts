import type { StoredRollup } from "../observability/rollups.ts";

/** What was counted, from this process's cache. */
export interface Rollups {
  /** Another number after every change of the sum of a day. */
  readonly summaryRevision: number;
  /** All days, in no order. */
  days(): readonly Pick<StoredRollup, "day" | "slots" | "summary">[];
}

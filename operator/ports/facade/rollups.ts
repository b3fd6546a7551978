import type { StoredRollup } from "../observability/rollups.ts";

/** What was counted, from this process's cache. */
export interface Rollups {
  /** All days, in no order. */
  /** Another number after every change of one. */
  readonly revision: number;
  days(): readonly Pick<StoredRollup, "day" | "slots">[];
}

import type { StoredRollup } from "../rollups.ts";

/** What was counted, from this process's cache. */
export interface Rollups {
  /** All days, in no order. */
  days(): readonly Pick<StoredRollup, "day" | "slots">[];
}

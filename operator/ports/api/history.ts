import type { RecordSpec } from "../../../crds/environment/environment-record.ts";
import type { StoredRollup } from "../rollups.ts";

/** Records of deleted environments, from this process's cache. */
export interface History {
  records(): readonly RecordSpec[];
  /** A number that changes with every environment or record, to invalidate results. */
  readonly revision: number;
}

/** Rollups of counts, from this process's cache. */
export interface Rollups {
  /** A number that changes with the sum of any day. */
  readonly summaryRevision: number;
  /** All days, unordered. */
  days(): readonly Pick<StoredRollup, "day" | "slots" | "summary">[];
}

import type { RecordSpec } from "../../../crds/environment/environment-record.ts";

/** Records of deleted environments, from this process's cache. */
export interface History {
  records(): readonly RecordSpec[];
  /** A number that changes with every environment or record, to invalidate results. */
  readonly revision: number;
}

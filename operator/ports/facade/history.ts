import type { RecordSpec } from "../../../crds/environment/environment-record.ts";

/** What remains of deleted environments, from this process's cache. */
export interface History {
  records(): readonly RecordSpec[];
  /** Another number after every change of an environment or a record: what was computed from them may be old. */
  readonly revision: number;
}

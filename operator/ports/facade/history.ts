import type { RecordSpec } from "../../../crds/environment/environment-record.ts";

/** Records of deleted environments, from this process's cache. */
export interface History {
  records(): readonly RecordSpec[];
  /** Changes with every environment or record: invalidates results computed from them. */
  readonly revision: number;
}

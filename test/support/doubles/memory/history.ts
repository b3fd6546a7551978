import type { History } from "../../../../operator/ports/records.ts";
import type { MemoryRecords } from "./records.ts";

/** The History port in memory: every read may be a change. */
export function memoryHistory(records: Pick<MemoryRecords, "list">): History {
  let revision = 0;
  return {
    records: () => records.list(),
    get revision() {
      revision += 1;
      return revision;
    },
  };
}

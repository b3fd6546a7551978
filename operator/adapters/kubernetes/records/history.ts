import { completeRecord } from "../../../../crds/environment/environment-record.ts";
import type { Caches } from "../../../ports/caches.ts";
import type { History } from "../../../ports/facade/history.ts";
import { revisionOf } from "./revision.ts";

/** History port on the watch caches. */
export function watchedHistory({ environments, records }: Pick<Caches, "environments" | "records">): History {
  const revision = revisionOf([environments, records]);
  return {
    records: () => records.list().map((record) => completeRecord(record)),
    get revision() {
      return revision();
    },
  };
}

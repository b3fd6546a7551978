import type { Caches } from "../../../ports/caches.ts";
import type { History } from "../../../ports/facade/history.ts";

/** The History port on this process's watch caches. */
export function watchedHistory({ environments, records, rollups }: Caches): History {
  let revision = 0;
  const changed = () => {
    revision += 1;
  };
  for (const cache of [environments, records, rollups]) cache.subscribe(changed);
  return {
    records: () => records.list().map(({ spec }) => spec),
    get revision() {
      return revision;
    },
  };
}

import type { Repository } from "../../../crds/repository/repository.ts";
import type { Enqueue } from "../../kit/controller/controller.ts";
import type { Caches } from "../../ports/caches.ts";

/** Enqueues a Repository after each check: after a change, on request, and hourly. */
export function enqueueOnChecks({ repositories }: Caches, enqueue: Enqueue): () => void {
  const checkOf = (repository: Repository | undefined) => repository?.status?.lastCheckedAt;
  return repositories.subscribe((_key, current, previous) => {
    if (current !== undefined && checkOf(current) !== undefined && checkOf(current) !== checkOf(previous)) {
      enqueue(current.metadata.name, "low");
    }
  });
}

import type { Repository } from "../../../crds/repository/repository.ts";
import type { Enqueue } from "../../kit/controller/controller.ts";
import type { Caches } from "../../ports/caches.ts";

/** Enqueues a Repository after each check of it: when it changed, when that was requested, and every hour. */
export function enqueueOnChecks({ repositories }: Pick<Caches, "repositories">, enqueue: Enqueue): () => void {
  const checkOf = (repository: Repository | undefined) => repository?.status?.lastCheckedAt;
  return repositories.subscribe((_key, current, previous) => {
    if (current !== undefined && checkOf(current) !== undefined && checkOf(current) !== checkOf(previous)) {
      enqueue(current.metadata.name, "low");
    }
  });
}

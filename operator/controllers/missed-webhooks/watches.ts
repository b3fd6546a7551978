import type { Enqueue } from "../../kit/controller/controller.ts";
import type { Caches } from "../../ports/caches.ts";

/** Enqueues Repositories that are new or changed; returns the end of it. */
export function enqueueOnNewRepositories({ repositories }: Pick<Caches, "repositories">, enqueue: Enqueue): () => void {
  return repositories.subscribe((_key, current, previous) => {
    if (current === undefined || current.metadata.generation === previous?.metadata.generation) return;
    enqueue(current.metadata.name, "low");
  });
}

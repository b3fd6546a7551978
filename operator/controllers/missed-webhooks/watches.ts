import type { Enqueue } from "../../kit/controller/controller.ts";
import type { Caches } from "../../ports/caches.ts";

/** Enqueues new or changed Repositories; returns the unsubscribe function. */
export function enqueueOnNewRepositories({ repositories }: Caches, enqueue: Enqueue): () => void {
  return repositories.subscribe((_key, current, previous) => {
    if (current === undefined || current.metadata.generation === previous?.metadata.generation) return;
    enqueue(current.metadata.name, "low");
  });
}

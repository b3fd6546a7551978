import { isCanary } from "../../../crds/environment/managed-by.ts";
import type { Enqueue } from "../../kit/controller/controller.ts";
import type { Caches } from "../../ports/caches.ts";

/** The one key: there is one canary at a time. */
export const CANARY_KEY = "canary";

/** Enqueues the key after each change of a canary; returns the end of it. */
export function enqueueOnCanaries({ environments }: Caches, enqueue: Enqueue): () => void {
  return environments.subscribe((_name, current, previous) => {
    const changed = current ?? previous;
    if (changed !== undefined && isCanary(changed)) enqueue(CANARY_KEY);
  });
}

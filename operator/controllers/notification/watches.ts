import { destinationOf, isUnsent } from "../../../crds/notifications/notification.ts";
import type { Enqueue } from "../../kit/controller/controller.ts";
import type { Caches } from "../../ports/caches.ts";

/**
 * Enqueues the destination of a new message; returns the unsubscribe function. Deliveries' own notes enqueue nothing.
 */
export function enqueueOnMessages({ notifications }: Caches, enqueue: Enqueue): () => void {
  return notifications.subscribe((_key, current, previous) => {
    if (current !== undefined && previous === undefined && isUnsent(current)) enqueue(destinationOf(current));
  });
}

/** Destinations with waiting messages. */
export function waitingDestinations({ notifications }: Caches): readonly string[] {
  return [...new Set(notifications.list().filter(isUnsent).map(destinationOf))];
}

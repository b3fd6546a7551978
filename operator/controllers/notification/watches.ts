import { destinationOf, isPending } from "../../../crds/notifications/notification.ts";
import type { Enqueue } from "../../kit/controller/controller.ts";
import type { Caches } from "../../ports/caches.ts";

/** Queues the destination of a new message; returns the end of it. What a delivery itself notes queues nothing. */
export function enqueueOnMessages({ notifications }: Pick<Caches, "notifications">, enqueue: Enqueue): () => void {
  return notifications.subscribe((_key, current, previous) => {
    if (current !== undefined && previous === undefined && isPending(current)) enqueue(destinationOf(current));
  });
}

/** The destinations that have messages to send. */
export function waitingDestinations({ notifications }: Pick<Caches, "notifications">): readonly string[] {
  return [...new Set(notifications.list().filter(isPending).map(destinationOf))];
}

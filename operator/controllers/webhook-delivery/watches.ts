import { triggerKey } from "../../../crds/environment/environment-record.ts";
import { isPending, waitingKeyOf } from "../../../crds/webhooks/webhook-delivery.ts";
import { type Enqueue, endOf } from "../../kit/controller/controller.ts";
import { BY_PULL_REQUEST, BY_WAITING_KEY, type Caches } from "../../ports/caches.ts";

/** Enqueues the deliveries that a change concerns; returns the end of it. */
export function enqueueOnDeliveries({ webhookDeliveries, environments }: Caches, enqueue: Enqueue): () => void {
  return endOf([
    webhookDeliveries.subscribe((_key, current) => {
      if (current === undefined) return;
      if (isPending(current)) enqueue(current.metadata.name);
      // Supersedes deliveries that wait for the same, or ends their wait.
      const key = waitingKeyOf(current);
      for (const { metadata } of key === undefined ? [] : webhookDeliveries.by(BY_WAITING_KEY, key)) {
        enqueue(metadata.name);
      }
    }),
    // A delivery may have waited for the freed name.
    environments.subscribe((_name, current, previous) => {
      const key = current === undefined ? triggerKey(previous?.spec.trigger) : undefined;
      if (key === undefined) return;
      for (const delivery of webhookDeliveries.by(BY_PULL_REQUEST, key)) {
        if (isPending(delivery)) enqueue(delivery.metadata.name);
      }
    }),
  ]);
}

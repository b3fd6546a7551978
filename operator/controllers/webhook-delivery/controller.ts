import { undecidedTraceparent } from "../../../crds/webhooks/webhook-delivery.ts";
import type { Controller } from "../../kit/controller/controller.ts";
import type { Caches } from "../../ports/caches.ts";
import { createDeliveryReconciler, type WebhookDeliveryDependencies } from "./reconcile.ts";
import { enqueueOnDeliveries } from "./watches.ts";

/** The controller that processes what the REST API left of webhooks. */
export function webhookDeliveryController(
  dependencies: WebhookDeliveryDependencies & { readonly caches: Caches },
): Controller {
  const { caches, webhookDeliveries } = dependencies;
  return {
    name: "deliveries",
    reconcile: createDeliveryReconciler(dependencies),
    causeOf: (name) => {
      const delivery = webhookDeliveries.find(name);
      return delivery && undecidedTraceparent(delivery);
    },
    watches: [(enqueue) => enqueueOnDeliveries(caches, enqueue)],
    initialKeys: () => webhookDeliveries.pending().map(({ metadata }) => metadata.name),
    workers: 8,
  };
}

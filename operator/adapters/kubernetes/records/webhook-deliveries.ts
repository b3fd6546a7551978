import { ClusterUnavailable } from "../../../../crds/errors.ts";
import { TRACEPARENT_ANNOTATION } from "../../../../crds/group.ts";
import type { WebhookDelivery, WebhookDeliverySpec } from "../../../../crds/webhooks/webhook-delivery.ts";
import { insteadOf, isAlreadyExists } from "../../../kit/client/errors.ts";
import {
  ALL,
  BY_COMMIT,
  BY_DEDUPLICATION_KEY,
  BY_PULL_REQUEST,
  BY_UNDECIDED,
  BY_WAITING,
  BY_WAITING_KEY,
  WAITING,
} from "../../../ports/caches.ts";
import type { DeliveryClaim, WebhookDeliveries } from "../../../ports/webhooks/webhook-deliveries.ts";
import { webhookDeliveryType } from "../kinds.ts";
import { writeStatus } from "../status-writer.ts";
import { isOvertaken, kept, removeExactly, type Store } from "../store.ts";
import { complete, forUser, UNAVAILABLE_RETRY_SECONDS } from "../user-request.ts";

type DeliveryStore = Pick<Store<WebhookDelivery>, "client" | "cache" | "namespace" | "traceparent">;

/** WebhookDeliveries port on the Kubernetes API and the watch cache. */
export function kubernetesWebhookDeliveries(store: DeliveryStore): WebhookDeliveries {
  const { cache, namespace } = store;
  return {
    find: (name) => complete(cache).get(`${namespace}/${name}`),
    list: () => complete(cache).list(),
    ofPullRequest: (key) => complete(cache).by(BY_PULL_REQUEST, key),
    byDeduplicationKey: (deduplicationKey) => complete(cache).by(BY_DEDUPLICATION_KEY, deduplicationKey),
    ofCommit: (commit) => complete(cache).by(BY_COMMIT, commit),
    pending: () => complete(cache).by(BY_WAITING, WAITING),
    undecided: (repository = ALL) => complete(cache).by(BY_UNDECIDED, repository),
    waitingFor: (key) => complete(cache).by(BY_WAITING_KEY, key),
    claim: (name, spec) => forUser(() => claim(store, name, spec)),
    finish: (delivery, status) =>
      forUser(() =>
        writeStatus(store, webhookDeliveryType, delivery, status)
          // Another process was first, or the delivery was dropped.
          .then(() => "stored" as const, insteadOf(isOvertaken, "changed")),
      ),
    remove: (delivery) => forUser(() => removeExactly(store, webhookDeliveryType, delivery)),
  };
}

async function claim(store: DeliveryStore, name: string, spec: WebhookDeliverySpec): Promise<DeliveryClaim> {
  const { client, cache, namespace } = store;
  const span = store.traceparent?.();
  const annotations = span === undefined ? {} : { annotations: { [TRACEPARENT_ANNOTATION]: span } };
  const metadata = { name, namespace, ...annotations };
  try {
    const delivery = kept(cache, await client.create(webhookDeliveryType, { metadata, spec }));
    return { state: "claimed", delivery };
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const known = cache.get(`${namespace}/${name}`);
    const delivery = known ?? (await client.find(webhookDeliveryType, { name, namespace }));
    // Dropped between the two calls: the host's next attempt claims it.
    if (delivery === undefined) throw new ClusterUnavailable(UNAVAILABLE_RETRY_SECONDS, { cause: error });
    return { state: "taken", delivery };
  }
}

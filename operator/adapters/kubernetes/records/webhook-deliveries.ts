import { ClusterUnavailable } from "../../../../crds/errors.ts";
import { TRACEPARENT_ANNOTATION } from "../../../../crds/group.ts";
import type {
  WebhookDelivery,
  WebhookDeliverySpec,
  WebhookDeliveryStatus,
} from "../../../../crds/webhooks/webhook-delivery.ts";
import { insteadOf, isAlreadyExists, isConflict, isNotFound } from "../../../kit/client/errors.ts";
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
import { kept, keptRest, type Store } from "../store.ts";
import { complete, forUser, UNAVAILABLE_RETRY_SECONDS } from "../user-request.ts";

type Context = Pick<Store<WebhookDelivery>, "client" | "cache" | "namespace" | "traceparent">;

/** WebhookDeliveries port on the Kubernetes API and the watch cache. */
export function kubernetesWebhookDeliveries(context: Context): WebhookDeliveries {
  const { cache, namespace } = context;
  return {
    find: (name) => complete(cache).get(`${namespace}/${name}`),
    list: () => complete(cache).list(),
    ofPullRequest: (key) => complete(cache).by(BY_PULL_REQUEST, key),
    byDeduplicationKey: (deduplicationKey) => complete(cache).by(BY_DEDUPLICATION_KEY, deduplicationKey),
    ofCommit: (commit) => complete(cache).by(BY_COMMIT, commit),
    pending: () => complete(cache).by(BY_WAITING, WAITING),
    undecided: (repository = ALL) => complete(cache).by(BY_UNDECIDED, repository),
    waitingFor: (key) => complete(cache).by(BY_WAITING_KEY, key),
    claim: (name, spec) => forUser(() => claim(context, name, spec)),
    finish: (delivery, status) => forUser(() => finish(context, delivery, status)),
    remove: (delivery) => forUser(() => remove(context, delivery)),
  };
}

async function claim(context: Context, name: string, spec: WebhookDeliverySpec): Promise<DeliveryClaim> {
  const { client, cache, namespace } = context;
  const span = context.traceparent?.();
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

async function finish(
  { client, cache }: Context,
  { metadata }: WebhookDelivery,
  status: WebhookDeliveryStatus,
): Promise<"stored" | "changed"> {
  const version = { op: "replace", path: "/metadata/resourceVersion", value: metadata.resourceVersion };
  const patch = [version, { op: "add", path: "/status", value: status }];
  const options = { as: "json", subresource: "status" } as const;
  const written = await client
    .patch(webhookDeliveryType, metadata, patch, options)
    .catch(insteadOf(isElsewhere, undefined));
  if (written === undefined) return "changed";
  kept(cache, written);
  return "stored";
}

/** Another process was first, or it was dropped. */
const isElsewhere = (error: unknown) => isConflict(error) || isNotFound(error);

async function remove({ client, cache, namespace }: Context, delivery: WebhookDelivery): Promise<void> {
  const { name, uid } = delivery.metadata;
  // Conflict: another one has its name.
  const left = await client
    .delete(webhookDeliveryType, { name, namespace }, { uid })
    .catch(insteadOf(isConflict, undefined));
  if (left !== undefined) keptRest(cache, delivery, left);
}

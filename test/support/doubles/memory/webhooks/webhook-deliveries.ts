import { randomUUID } from "node:crypto";
import { ClusterUnavailable } from "../../../../../crds/errors.ts";
import { API_VERSION } from "../../../../../crds/group.ts";
import {
  isPending,
  isUndecided,
  isWaiting,
  pullRequestsOf,
  reportedCommit,
  type WebhookDelivery,
  waitingKeyOf,
} from "../../../../../crds/webhooks/webhook-delivery.ts";
import type { Clock } from "../../../../../operator/kit/time/clock.ts";
import type { WebhookDeliveries } from "../../../../../operator/ports/webhooks/webhook-deliveries.ts";
import { kubernetesTime } from "../environments.ts";

const UNAVAILABLE_RETRY_SECONDS = 5;

export interface MemoryWebhookDeliveries extends WebhookDeliveries {
  /** Ends or restores the connection to the cluster; the watched state stays. */
  setReachable(reachable: boolean): void;
  /** Stores a delivery unchanged. */
  put(delivery: WebhookDelivery): void;
}

/** Deliveries without a cluster; fulfils `webhookDeliveriesSuite`. */
export function memoryWebhookDeliveries(clock: Pick<Clock, "now">): MemoryWebhookDeliveries {
  const stored = new Map<string, WebhookDelivery>();
  const byPullRequest = new Map<string, Set<string>>();
  let version = 1;
  let isReachable = true;
  const reach = () => {
    if (!isReachable) throw new ClusterUnavailable(UNAVAILABLE_RETRY_SECONDS);
  };
  const keep = (delivery: WebhookDelivery) => {
    version += 1;
    const metadata = { ...delivery.metadata, resourceVersion: String(version) };
    const kept = structuredClone({ ...delivery, metadata });
    if (!stored.has(metadata.name)) {
      for (const key of pullRequestsOf(kept))
        byPullRequest.set(key, (byPullRequest.get(key) ?? new Set()).add(metadata.name));
    }
    stored.set(metadata.name, kept);
    return kept;
  };
  const list = () => [...stored.values()];
  return {
    find: (name) => stored.get(name),
    list,
    ofPullRequest: (key) => [...(byPullRequest.get(key) ?? [])].flatMap((name) => stored.get(name) ?? []),
    ofCommit: (commit) => list().filter((one) => reportedCommit(one) === commit),
    byDeduplicationKey: (deduplicationKey) => list().filter(({ spec }) => spec.deduplicationKey === deduplicationKey),
    pending: () => list().filter(isPending),
    undecided: (repository) =>
      list().filter(
        (one) => isUndecided(one) && (repository === undefined || one.spec.repositories?.includes(repository)),
      ),
    waitingFor: (key) => list().filter((one) => isWaiting(one) && waitingKeyOf(one) === key),
    async claim(name, spec) {
      reach();
      const taken = stored.get(name);
      if (taken !== undefined) return { state: "taken", delivery: taken };
      const creationTimestamp = kubernetesTime(clock.now());
      const metadata = {
        name,
        namespace: "ephemeral-system",
        uid: randomUUID(),
        resourceVersion: "",
        creationTimestamp,
      };
      const delivery = keep({ apiVersion: API_VERSION, kind: "WebhookDelivery", metadata, spec });
      return { state: "claimed", delivery };
    },
    async finish({ metadata }, status) {
      reach();
      const found = stored.get(metadata.name);
      if (found === undefined || found.metadata.resourceVersion !== metadata.resourceVersion) return "changed";
      keep({ ...found, status });
      return "stored";
    },
    async remove({ metadata: { name, uid } }) {
      reach();
      if (stored.get(name)?.metadata.uid === uid) stored.delete(name);
    },
    setReachable: (reachable) => {
      isReachable = reachable;
    },
    put: (delivery) => void keep(delivery),
  };
}

import { randomUUID } from "node:crypto";
import { decidedWrites } from "../adapters/kubernetes/environments/operator-environments.ts";
import { kubernetesWebhookDeliveries } from "../adapters/kubernetes/records/webhook-deliveries.ts";
import { kubernetesRepositories } from "../adapters/kubernetes/repositories.ts";
import type { KubeClient } from "../kit/client/kube-client.ts";
import { BY_PULL_REQUEST, BY_REPOSITORY } from "../ports/caches.ts";
import type { ConfigSetFinder } from "../ports/config-sets.ts";
import type { BranchHeads } from "../ports/repository-host.ts";
import type { WebhookDeliveries } from "../ports/webhooks/webhook-deliveries.ts";
import { decide } from "../webhooks/decide.ts";
import type { ProcessingContext } from "../webhooks/process.ts";
import type { Dependencies } from "./dependencies.ts";
import { WEBHOOK_FORMATS } from "./hosts.ts";

/** Dependencies that users and controllers have apart: neither's calls queue behind the other's. */
interface Caller {
  readonly client: KubeClient;
  readonly configSets: ConfigSetFinder;
  readonly branchHeads: BranchHeads;
}

/** Stored deliveries, with the dependencies for processing them. */
export function processingContext(
  { settings, clock, caches, deletions, tracing: { traceparent }, audit }: Dependencies,
  { client, configSets, branchHeads }: Caller,
): ProcessingContext & { readonly webhookDeliveries: WebhookDeliveries } {
  const { namespace } = settings;
  const stored = { client, cache: caches.webhookDeliveries, namespace, traceparent };
  const webhookDeliveries = kubernetesWebhookDeliveries(stored);
  return {
    webhookDeliveries,
    decide,
    writes: decidedWrites({ client, cache: caches.environments, clock, deletions, traceparent }),
    audit,
    newId: randomUUID,
    decisionContext: {
      settings,
      formats: WEBHOOK_FORMATS,
      environments: {
        find: (name) => caches.environments.get(name),
        ofRepository: (name) => caches.environments.by(BY_REPOSITORY, name),
      },
      repositories: kubernetesRepositories(caches.repositories, namespace),
      configSets,
      deliveries: webhookDeliveries,
      recordsOf: (pullRequest) => caches.records.by(BY_PULL_REQUEST, pullRequest),
      branchHeads,
      clock,
    },
  };
}

import { randomUUID } from "node:crypto";
import { giteaWebhookFormat } from "../adapters/gitea/webhook-format.ts";
import { githubWebhookFormat } from "../adapters/github/webhook-format.ts";
import { gitlabWebhookFormat } from "../adapters/gitlab/webhook-format.ts";
import { decidedWrites } from "../adapters/kubernetes/environments/decided-writes.ts";
import { kubernetesWebhookDeliveries } from "../adapters/kubernetes/records/webhook-deliveries.ts";
import { kubernetesRepositories } from "../adapters/kubernetes/repositories.ts";
import { neutralWebhookFormat } from "../adapters/neutral/webhook-format.ts";
import type { KubeClient } from "../kit/client/kube-client.ts";
import type { AuditTrail } from "../ports/audit-trail.ts";
import { BY_PULL_REQUEST, BY_REPOSITORY } from "../ports/caches.ts";
import type { ConfigSets } from "../ports/config-sets.ts";
import type { BranchHeads } from "../ports/facade/branch-heads.ts";
import type { WebhookDeliveries } from "../ports/webhooks/webhook-deliveries.ts";
import { decide } from "../webhooks/decide.ts";
import type { WebhookFormats } from "../webhooks/senders.ts";
import type { SettleContext } from "../webhooks/settle.ts";
import type { Foundations } from "./foundations.ts";

/** How each kind of host signs and describes its events. */
export const WEBHOOK_FORMATS: WebhookFormats = {
  github: githubWebhookFormat,
  gitea: giteaWebhookFormat,
  gitlab: gitlabWebhookFormat,
  neutral: neutralWebhookFormat,
};

/** What settling deliveries takes of either half of the process. */
interface Half {
  /** Its own, because what users wait for never queues behind the controllers' calls. */
  readonly client: KubeClient;
  readonly configSets: Pick<ConfigSets, "find">;
  readonly branchHeads: BranchHeads;
  readonly audit: AuditTrail | undefined;
}

/** Stored deliveries, and what settling them reads and writes. */
export function settling(
  { settings, clock, caches, deletions, tracing }: Foundations,
  { client, configSets, branchHeads, audit = UNRECORDED }: Half,
): SettleContext & { readonly webhookDeliveries: WebhookDeliveries } {
  const { namespace } = settings;
  const { traceparent } = tracing;
  const stored = { client, cache: caches.webhookDeliveries, namespace, traceparent };
  const webhookDeliveries = kubernetesWebhookDeliveries(stored);
  return {
    webhookDeliveries,
    decide,
    writes: decidedWrites({ client, cache: caches.environments, deletions, traceparent }),
    audit,
    newId: randomUUID,
    world: {
      settings,
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

/** Of processes that keep no audit log, as tests and benchmarks start them. */
const UNRECORDED: AuditTrail = { add: async () => undefined, isKept: async () => true };

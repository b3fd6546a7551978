import { kubernetesApiTokens } from "../adapters/kubernetes/api-tokens.ts";
import { kubernetesCluster } from "../adapters/kubernetes/cluster.ts";
import { kubernetesConfigSets } from "../adapters/kubernetes/config-sets.ts";
import { kubernetesEnvironments } from "../adapters/kubernetes/environments/environments.ts";
import { kubernetesPlatformHealth } from "../adapters/kubernetes/platform-health.ts";
import { watchedHistory } from "../adapters/kubernetes/records/environment-records.ts";
import { kubernetesNotifications } from "../adapters/kubernetes/records/notifications.ts";
import { watchedRollupDays } from "../adapters/kubernetes/records/rollups.ts";
import { kubernetesRepositories, kubernetesRepositoryReloads } from "../adapters/kubernetes/repositories.ts";
import type { AuditId } from "../adapters/kubernetes/store.ts";
import { kubernetesUnknownNames } from "../adapters/kubernetes/unknown-names.ts";
import { kubernetesWorkloads } from "../adapters/kubernetes/workloads.ts";
import { consoleSecrets, extensionKeyOf } from "../adapters/platform-keys/platform-keys.ts";
import { kubernetesPodLogs } from "../adapters/pod-logs/pod-logs.ts";
import { createUnverifiedMessages } from "../announcements/unverified-message.ts";
import { BACKING_SERVICES } from "../controllers/environment/backing-services/index.ts";
import { areExpirationsBlocked } from "../controllers/environment/expiration/limiter.ts";
import { chartTemplates } from "../controllers/environment/template.ts";
import { createWebhookRegistrar } from "../controllers/webhook-registration/registrar.ts";
import type { Metrics } from "../ports/metrics.ts";
import { createBranchHeads } from "../repository-access/branch-heads.ts";
import { countedInbox, createWebhookInbox } from "../webhooks/inbox.ts";
import { createWebhookKeys } from "../webhooks/webhook-keys.ts";
import type { Dependencies } from "./dependencies.ts";
import { type Hosts, WEBHOOK_FORMATS } from "./hosts.ts";
import { processingContext } from "./webhooks.ts";

/** Options of the API's ports. */
export interface ApiOptions {
  /** Audit id of the current request: written on its changes. */
  readonly auditId?: AuditId;
  readonly metrics?: Metrics | undefined;
}

/** Adapters behind the API's ports. */
export function apiPorts(dependencies: Dependencies, { repositoryHost, apis }: Hosts, options: ApiOptions) {
  const { settings, log, clock, client, caches, deletions, deployer, secretManagers, tracing } = dependencies;
  const { namespace } = settings;
  const stored = { client, namespace, clock, deletions, auditId: options.auditId, traceparent: tracing.traceparent };
  const secretManager = secretManagers.forApi;
  const cluster = kubernetesCluster({ client, watched: caches.children, clock });
  const observed = { client, cluster, clock, services: BACKING_SERVICES.map(({ name }) => name) };
  const branchHeads = createBranchHeads({ settings, clock, secretManager, repositoryHost });
  const configSets = kubernetesConfigSets({ ...stored, cache: caches.configSets });
  const notifications = kubernetesNotifications({ client, cache: caches.notifications, namespace });
  const webhooks = processingContext(dependencies, { client, configSets, branchHeads });
  const webhookInbox = createWebhookInbox({
    ...webhooks,
    deliveries: webhooks.webhookDeliveries,
    settings,
    repositories: webhooks.decisionContext.repositories,
    formats: WEBHOOK_FORMATS,
    keys: createWebhookKeys({ settings, secretManager, clock }),
    clock,
    log,
    unverifiedMessages: createUnverifiedMessages({ settings, notifications, clock }),
  });
  return {
    environments: kubernetesEnvironments({
      ...stored,
      cache: caches.environments,
      leftFields: deployer.leftFields(client),
    }),
    repositories: kubernetesRepositories(caches.repositories, namespace),
    repositoryReloads: kubernetesRepositoryReloads({ ...stored, cache: caches.repositories }),
    unknownNames: kubernetesUnknownNames({ client, caches, namespace, clock }),
    branchHeads,
    configSets,
    webhookDeliveries: webhooks.webhookDeliveries,
    webhookInbox: options.metrics === undefined ? webhookInbox : countedInbox(webhookInbox, options.metrics),
    webhookRegistrar: createWebhookRegistrar({ settings, secretManager, hooks: apis.hooks }),
    chartTemplates: chartTemplates(settings, BACKING_SERVICES),
    history: watchedHistory(caches),
    rollups: watchedRollupDays(caches.rollups),
    apiTokens: kubernetesApiTokens({ ...stored, cache: caches.apiTokens }),
    health: kubernetesPlatformHealth({
      client,
      caches: dependencies.watches,
      deployer: deployer.health(caches.children),
      circuitBreakers: secretManagers.circuitBreakers,
      expirationsBlocked: () => areExpirationsBlocked({ environments: caches.environments, settings, clock }),
      clock,
    }),
    secretManager,
    extensionKey: extensionKeyOf(secretManager),
    consoleSecrets: consoleSecrets(settings, secretManager),
    prober: dependencies.createProber(),
    podLogs: kubernetesPodLogs(observed),
    workloads: kubernetesWorkloads(observed),
    deployerLog: deployer.log(cluster),
  };
}

import { kubernetesApiTokens } from "../adapters/kubernetes/api-tokens.ts";
import { kubernetesCluster } from "../adapters/kubernetes/cluster.ts";
import { kubernetesConfigSets } from "../adapters/kubernetes/config-sets.ts";
import { kubernetesEnvironments } from "../adapters/kubernetes/environments/environments.ts";
import { kubernetesPlatformHealth } from "../adapters/kubernetes/platform-health.ts";
import { watchedHistory } from "../adapters/kubernetes/records/history.ts";
import { kubernetesNotifications } from "../adapters/kubernetes/records/notifications.ts";
import { watchedRollupDays } from "../adapters/kubernetes/records/rollups.ts";
import { kubernetesRepositories } from "../adapters/kubernetes/repositories.ts";
import { kubernetesRepositoryReloads } from "../adapters/kubernetes/repository-reloads.ts";
import type { AuditId } from "../adapters/kubernetes/store.ts";
import { kubernetesWorkloads } from "../adapters/kubernetes/workloads.ts";
import { kubernetesPodLogs } from "../adapters/pod-logs/pod-logs.ts";
import { createUnverifiedMessages } from "../announcements/unverified-message.ts";
import { BACKING_SERVICES } from "../controllers/environment/backing-services/index.ts";
import { areExpirationsBlocked } from "../controllers/environment/expiration/limiter.ts";
import { chartTemplates } from "../controllers/environment/template.ts";
import { extensionKeyOf } from "../controllers/notification/extension-key.ts";
import { createHookDoctor } from "../controllers/webhook-registration/doctor.ts";
import type { AuditTrail } from "../ports/audit-trail.ts";
import type { Metrics } from "../ports/observability/metrics.ts";
import type { UrlProber } from "../ports/url-prober.ts";
import { createBranchHeads } from "../repository-access/branch-heads.ts";
import { countedInbox } from "../webhooks/counted-inbox.ts";
import { createWebhookInbox } from "../webhooks/inbox.ts";
import { createWebhookKeys } from "../webhooks/webhook-keys.ts";
import { consoleSecrets } from "./console-secrets.ts";
import type { Foundations } from "./foundations.ts";
import type { Hosts } from "./hosts/host-apis.ts";
import { repositoryHooks } from "./hosts/repository-hooks.ts";
import { urlProber } from "./url-prober.ts";
import { settling, WEBHOOK_FORMATS } from "./webhooks.ts";

/** What the facade tells its ports, and what tests may replace. */
export interface FacadeOptions {
  /** The id of the audit record of the request that is served: written on what it changes. */
  readonly auditId?: AuditId;
  /** Instead of the real prober. */
  readonly prober?: UrlProber;
  /** Where what webhooks change is recorded. */
  readonly audit?: AuditTrail;
  /** Where webhooks are counted. */
  readonly metrics?: Metrics | undefined;
}

/** Which adapter stands behind which port of the facade. */
export function facadePorts(foundations: Foundations, { repositoryHost, apis }: Hosts, options: FacadeOptions) {
  const { settings, log, clock, client, caches, deletions, deployer, secretManagers, tracing } = foundations;
  const { namespace } = settings;
  const stored = { client, namespace, clock, deletions, auditId: options.auditId, traceparent: tracing.traceparent };
  const secretManager = secretManagers.forApi;
  const cluster = kubernetesCluster({ client, watched: caches.children, clock });
  const observed = { client, cluster, clock, services: BACKING_SERVICES.map(({ name }) => name) };
  const branchHeads = createBranchHeads({ settings, clock, secretManager, repositoryHost });
  const configSets = kubernetesConfigSets({ ...stored, cache: caches.configSets });
  const notifications = kubernetesNotifications({ client, cache: caches.notifications, namespace });
  const webhooks = settling(foundations, { client, configSets, branchHeads, audit: options.audit });
  const webhookInbox = createWebhookInbox({
    ...webhooks,
    deliveries: webhooks.webhookDeliveries,
    settings,
    repositories: webhooks.world.repositories,
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
    branchHeads,
    configSets,
    webhookDeliveries: webhooks.webhookDeliveries,
    webhookInbox: options.metrics === undefined ? webhookInbox : countedInbox(webhookInbox, options.metrics),
    hookDoctor: createHookDoctor({ settings, secretManager, hooks: repositoryHooks(apis) }),
    chartTemplates: chartTemplates(settings, BACKING_SERVICES),
    history: watchedHistory(caches),
    rollups: watchedRollupDays(caches.rollups),
    apiTokens: kubernetesApiTokens({ ...stored, cache: caches.apiTokens }),
    health: kubernetesPlatformHealth({
      client,
      caches: foundations.watches,
      deployer: deployer.health(caches.children),
      circuitBreakers: secretManagers.circuitBreakers,
      expirationsBlocked: () => areExpirationsBlocked({ environments: caches.environments, settings, clock }),
      clock,
    }),
    secretManager,
    extensionKey: extensionKeyOf(secretManager),
    consoleSecrets: consoleSecrets(settings, secretManager),
    prober: options.prober ?? urlProber(settings, clock),
    podLogs: kubernetesPodLogs(observed),
    workloads: kubernetesWorkloads(observed),
    deployerLog: deployer.log(cluster),
  };
}

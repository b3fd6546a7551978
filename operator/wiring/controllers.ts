import { hostname } from "node:os";
import { kubernetesApiTokens } from "../adapters/kubernetes/api-tokens.ts";
import { kubernetesCluster } from "../adapters/kubernetes/cluster.ts";
import { kubernetesConfigSets, kubernetesConfigSetVersions } from "../adapters/kubernetes/config-sets.ts";
import { operatorEnvironments } from "../adapters/kubernetes/environments/operator-environments.ts";
import { kubernetesEventRecorder } from "../adapters/kubernetes/event-recorder.ts";
import { environmentType, repositoryType } from "../adapters/kubernetes/kinds.ts";
import { kubernetesInventory, kubernetesNamespaceContents } from "../adapters/kubernetes/namespace-contents.ts";
import { kubernetesPods } from "../adapters/kubernetes/pods.ts";
import { kubernetesRecords } from "../adapters/kubernetes/records/environment-records.ts";
import { kubernetesNotifications } from "../adapters/kubernetes/records/notifications.ts";
import { kubernetesRollupStore, watchedRollupDays } from "../adapters/kubernetes/records/rollups.ts";
import { kubernetesRepositories } from "../adapters/kubernetes/repositories.ts";
import { kubernetesStatusWriter } from "../adapters/kubernetes/status-writer.ts";
import { kubernetesWorkloadScaler } from "../adapters/kubernetes/workload-scaler.ts";
import { extensionKeyOf } from "../adapters/platform-keys/platform-keys.ts";
import { createAnnouncer, createHookAlert } from "../announcements/announcer.ts";
import { BACKING_SERVICES } from "../controllers/environment/backing-services/index.ts";
import { reportingStatusWriter } from "../controllers/environment/events.ts";
import { randomSecret } from "../controllers/environment/secret-values.ts";
import type { ControllerDependencies } from "../controllers/index.ts";
import { BY_CONFIG_SET, BY_COPY_SOURCE, BY_REPORTED_COMMIT, BY_REPOSITORY, BY_UID } from "../ports/caches.ts";
import type { ServerClock } from "../ports/cluster.ts";
import type { EnvironmentStatusWriter } from "../ports/environments.ts";
import type { EventRecorder } from "../ports/event-recorder.ts";
import type { Metrics } from "../ports/metrics.ts";
import { createBranchHeads } from "../repository-access/branch-heads.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Hosts } from "./hosts.ts";
import { processingContext } from "./webhooks.ts";

/** The source of jitter, and replacements that tests make. */
export interface ControllerOptions {
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Instead of the API server's own clock. */
  readonly serverClock?: ServerClock;
  /** Replaces Kubernetes Events. */
  readonly events?: EventRecorder;
  readonly metrics?: Metrics | undefined;
}

/** Joins the ports that the controllers name with their adapters. */
export function controllerDependencies(
  dependencies: Dependencies,
  { repositoryHost, apis }: Hosts,
  options: ControllerOptions,
): ControllerDependencies {
  const { settings, log, clock, leaderClient: client, caches, deletions } = dependencies;
  const { namespace, serviceAccount } = settings;
  const { random, serverClock = { now: () => client.serverTime() } } = options;
  const stored = { client, namespace, clock, deletions };
  const cluster = kubernetesCluster({ client, watched: caches.children, clock });
  const environmentsOf = (repository: string) => caches.environments.by(BY_REPOSITORY, repository);
  const repositories = kubernetesRepositories(caches.repositories, namespace);
  const notifications = kubernetesNotifications({ client, cache: caches.notifications, namespace });
  const inventory = kubernetesInventory({ client, caches, namespace, deployerKinds: dependencies.deployer.kinds });
  const configSets = kubernetesConfigSets({ client, cache: caches.configSets, namespace, deletions });
  const secretManager = dependencies.secretManagers.forController;
  const branchHeads = createBranchHeads({ settings, clock, secretManager, repositoryHost });
  const recorder = { client, namespace, serviceAccount, instance: hostname(), clock, log };
  const { events = kubernetesEventRecorder(recorder) } = options;
  const serviceNames = BACKING_SERVICES.map(({ name }) => name);
  return {
    ...processingContext(dependencies, { client, configSets, branchHeads }),
    settings,
    log,
    clock,
    random,
    loopSucceeded: (loop) => options.metrics?.loopSucceeded(loop),
    serverClock,
    caches,
    deletions,
    cluster,
    namespaceContents: kubernetesNamespaceContents(client, clock),
    deployer: dependencies.deployer.deployer({ cluster, client, clock }),
    secretManager,
    pods: kubernetesPods(client, clock, serviceNames),
    workloadScaler: kubernetesWorkloadScaler(client),
    prober: dependencies.createProber(),
    repositoryHost,
    repositoryFiles: repositoryHost,
    backingServices: BACKING_SERVICES,
    generateSecret: randomSecret,
    environments: operatorEnvironments({ ...stored, cache: caches.environments }),
    environment: (name) => caches.environments.get(name),
    environmentsOf,
    reportersOf: (key) => caches.environments.by(BY_REPORTED_COMMIT, key),
    copiesOf: (name) => caches.environments.by(BY_COPY_SOURCE, name),
    environmentsNaming: (configSet) => caches.environments.by(BY_CONFIG_SET, configSet),
    statusWriter: environmentStatusWriter(dependencies, events),
    repositories,
    pullRequestHost: apis.pullRequestHost,
    pullRequestReader: apis.pullRequestReader,
    hooks: apis.hooks,
    alertOfHook: createHookAlert({ settings, repositories, notifications, clock }),
    isUsed: (repository) => environmentsOf(repository).length > 0,
    repositoryStatusWriter: kubernetesStatusWriter({ client, type: repositoryType, cache: caches.repositories }),
    configSets,
    configSetVersions: kubernetesConfigSetVersions({ client, cache: caches.revisions, namespace, serverClock }),
    apiTokens: kubernetesApiTokens({ ...stored, cache: caches.apiTokens }),
    notifications,
    announcer: createAnnouncer({ settings, repositories, notifications, clock }),
    ...dependencies.messaging,
    extensionKey: extensionKeyOf(secretManager),
    environmentOf: (uid) => caches.environments.by(BY_UID, uid)[0],
    records: kubernetesRecords({ client, namespace }),
    costMonitor: dependencies.costMonitor,
    ingressTraffic: dependencies.ingressTraffic,
    ownProbes: dependencies.ownProbes,
    observedRequests: dependencies.observedRequests,
    rollupStore: kubernetesRollupStore({ client, namespace }),
    rollupDays: watchedRollupDays(caches.rollups),
    events,
    ...inventory,
  };
}

function environmentStatusWriter({ leaderClient: client, caches, clock }: Dependencies, events: EventRecorder) {
  const cache = caches.environments;
  const writer: EnvironmentStatusWriter = kubernetesStatusWriter({ client, type: environmentType, cache });
  const writersOf = (name: string) => {
    const known = cache.get(name);
    return known === undefined ? [] : caches.writersOf(known);
  };
  return reportingStatusWriter(writer, { events, clock, writersOf });
}

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { KubeConfig } from "@kubernetes/client-node";
import type { Settings } from "../../config/settings.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { argocdDeployer } from "../adapters/argocd/deployer.ts";
import { argocdDeployerLog } from "../adapters/argocd/deployer-log.ts";
import { gitRepositoryHost } from "../adapters/git/repository-host.ts";
import { httpsUrlProber } from "../adapters/http/url-prober.ts";
import { kubernetesApiTokens } from "../adapters/kubernetes/api-tokens.ts";
import { kubernetesCluster } from "../adapters/kubernetes/cluster.ts";
import { kubernetesConfigSetVersions } from "../adapters/kubernetes/config-set-versions.ts";
import { kubernetesConfigSets } from "../adapters/kubernetes/config-sets.ts";
import { kubernetesRecords } from "../adapters/kubernetes/environment-records.ts";
import { kubernetesEnvironments } from "../adapters/kubernetes/environments/environments.ts";
import { operatorEnvironments } from "../adapters/kubernetes/environments/operator-environments.ts";
import { kubernetesEventRecorder } from "../adapters/kubernetes/event-recorder.ts";
import { kubernetesPlatformHealth } from "../adapters/kubernetes/platform-health.ts";
import { kubernetesPods } from "../adapters/kubernetes/pods.ts";
import { kubernetesRepositories } from "../adapters/kubernetes/repositories.ts";
import { kubernetesRepositoryReloads } from "../adapters/kubernetes/repository-reloads.ts";
import { kubernetesStatusWriter } from "../adapters/kubernetes/status-writer.ts";
import { kubernetesPodLogs } from "../adapters/pod-logs/pod-logs.ts";
import { OUR_FIELD_MANAGER } from "../audit/field-managers.ts";
import { recordOutOfBandChanges } from "../audit/out-of-band-changes.ts";
import { areExpirationsBlocked, oldestFirst } from "../environment/expiration/limiter.ts";
import { randomSecret } from "../environment/random-secret.ts";
import { createReconciler, type ReconcilerContext } from "../environment/reconciler.ts";
import { chartTemplates } from "../environment/template.ts";
import { enqueueOnChanges } from "../environment/watches.ts";
import { deleteExpiredTokens } from "../garbage-collection/expired-tokens.ts";
import { createGarbageCollector } from "../garbage-collection/garbage-collector.ts";
import { createOrphanedValues, removeOnDeletion } from "../garbage-collection/orphaned-token-values.ts";
import { createSweep } from "../garbage-collection/orphans.ts";
import { discardWhenUnused, enqueueOnDisuse } from "../garbage-collection/unused-config-set-versions.ts";
import {
  apiTokenType,
  applicationKind,
  appProjectKind,
  environmentType,
  namespaceKind,
  repositoryType,
} from "../kinds.ts";
import { createKubeClient } from "../kit/client/kube-client.ts";
import type { KubeObject, ResourceType } from "../kit/client/objects.ts";
import { ownDeletions } from "../kit/client/own-deletions.ts";
import type { RequestSeam } from "../kit/client/request.ts";
import type { WriteGuard } from "../kit/client/write-guard.ts";
import { type Controller, type ControllerMetrics, createController } from "../kit/controller/controller.ts";
import type { Log } from "../kit/log.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { ApiTokens } from "../ports/api-tokens.ts";
import type { AuditTrail } from "../ports/audit-trail.ts";
import type { ConfigSets } from "../ports/config-sets.ts";
import type { BranchHeads } from "../ports/facade/branch-heads.ts";
import type { ChartTemplates } from "../ports/facade/chart-templates.ts";
import type { DeployerLog } from "../ports/facade/deployer-log.ts";
import type { Environments } from "../ports/facade/environments.ts";
import type { PlatformHealthCheck } from "../ports/facade/platform-health.ts";
import type { PodLogs } from "../ports/facade/pod-logs.ts";
import type { RepositoryReloads } from "../ports/facade/repository-reloads.ts";
import type { Repositories } from "../ports/repositories.ts";
import type { SecretManager } from "../ports/secret-manager.ts";
import type { ServerClock } from "../ports/server-clock.ts";
import type { UrlProber } from "../ports/url-prober.ts";
import { createBranchHeads } from "../repository/branch-heads.ts";
import { createRepositoryReconciler } from "../repository/reconciler.ts";
import { enqueueOnRepositories } from "../repository/watches.ts";
import { BY_CONFIG_SET, BY_REPOSITORY, BY_UID, createCaches } from "./caches.ts";
import { createSecretManagers } from "./secret-managers.ts";

export interface OperatorOptions {
  readonly settings: Settings;
  readonly kubeConfig: KubeConfig;
  readonly log: Log;
  readonly clock: Clock;
  /** Uniform in [0, 1): jitter only, never secrets. */
  readonly random: () => number;
  /** Stands around every call to the Kubernetes API; for counting and for injecting faults. */
  readonly onRequest?: RequestSeam;
  /** Stands around all that a pass reaches through ports; for injecting faults where no request can tell. */
  readonly onPorts?: (context: ReconcilerContext) => ReconcilerContext;
  /** The API server's own clock and the URL prober, unless the real ones are meant. */
  readonly serverClock?: ServerClock;
  readonly prober?: UrlProber;
  /** Where it is written down what is changed past the REST interface. */
  readonly audit?: AuditTrail;
  /** The id of the record of the request that is being served; what users change is to name it. */
  readonly auditId?: () => string | undefined;
  /** Where the controllers `environments`, `repositories`, `config set versions` and `housekeeping` count. */
  readonly metrics?: ControllerMetrics;
}

/** What the REST facade stands on. */
export interface OperatorPorts {
  readonly environments: Environments;
  readonly repositories: Repositories;
  readonly repositoryReloads: RepositoryReloads;
  readonly branchHeads: BranchHeads;
  readonly configSets: ConfigSets;
  readonly chartTemplates: ChartTemplates;
  readonly apiTokens: ApiTokens;
  readonly health: PlatformHealthCheck;
  readonly secretManager: SecretManager;
  /** For whoever asks for it: none of its turns are taken from the passes. */
  readonly prober: UrlProber;
  readonly podLogs: PodLogs;
  readonly deployerLog: DeployerLog;
}

/** The operator's half of the process: the watches, the reconciler, and the ports that the facade stands on. */
export interface Operator {
  readonly ports: OperatorPorts;
  /** Begins to watch; resolves when every cache has its first complete list. */
  start(signal: AbortSignal): Promise<void>;
  /** The kinds whose cache has not been complete yet, such as `applications.argoproj.io`. */
  readonly missing: readonly string[];
  /** False when a watch hangs, so that only a restart helps. */
  readonly alive: boolean;
  /**
   * Reconciles, once, until the signal aborts; then lets the passes in work end for a second, or (when it aborts with
   * the TermEnd `lost`) cuts them at once. No write of a pass is sent while `isLeading` says no. For the leader.
   */
  reconcile(signal: AbortSignal, isLeading?: () => boolean): Promise<void>;
  /** Ends the watches and closes every connection. */
  stop(): Promise<void>;
}

/** However long something was away: half a minute after it is back, everything is as wanted. */
const BACKOFF_MS = { first: 500, longest: 15_000 };
/** A pass that is cut is as one that a crash cut; the next leader waits for this one's end. */
const DRAIN_MS = 1_000;
/** Where an environment's things are found by their labels; the rest lies in its namespace. */
const OWNED_KINDS = [namespaceKind, applicationKind, appProjectKind];

export function createOperator(options: OperatorOptions): Operator {
  const { settings, kubeConfig, clock, log, onRequest, onPorts = (context) => context } = options;
  const connect = (guard?: WriteGuard) =>
    createKubeClient({
      kubeConfig,
      clock,
      userAgent: OUR_FIELD_MANAGER,
      ...(onRequest ? { onRequest } : {}),
      ...(guard ? { guard } : {}),
    });
  const client = connect();
  // For whatever a pass calls: it ends with the term, and what users wait for never queues behind it.
  const term = new AbortController();
  let mayWrite = () => true;
  const leaderClient = connect({ signal: term.signal, holds: () => mayWrite() });
  const deployerNamespace = settings.deployer.namespace;
  const caches = createCaches({ client, namespace: settings.namespace, deployerNamespace, log, clock });
  const deletions = ownDeletions();
  // What users change names the record of who did; what passes change is nobody's.
  const forUsers = { client, deletions, ...(options.auditId ? { auditId: options.auditId } : {}) };
  const environments = kubernetesEnvironments({ ...forUsers, cache: caches.environments, clock });
  const repositories = kubernetesRepositories(caches.repositories, settings.namespace);
  const cluster = kubernetesCluster({ client: leaderClient, watched: caches.children, clock });
  const configSets = kubernetesConfigSets({
    ...{ ...forUsers, cache: caches.configSets, namespace: settings.namespace },
  });
  const tokens = { cache: caches.apiTokens, namespace: settings.namespace, clock };
  const apiTokens = kubernetesApiTokens({ ...tokens, ...forUsers });
  const serverClock = options.serverClock ?? { now: () => leaderClient.serverTime() };
  const configSetVersions = kubernetesConfigSetVersions({
    ...{ client: leaderClient, cache: caches.revisions, namespace: settings.namespace, serverClock },
  });
  const repositoryHost = gitRepositoryHost();
  // None of its connections are taken from the passes.
  const hostForUsers = gitRepositoryHost();
  const newProber = () => httpsUrlProber(proberSettings(settings), clock);
  const secretManagers = createSecretManagers(settings, { client, leaderClient, isLeading: () => mayWrite(), clock });
  const context = onPorts({
    ...options,
    cluster,
    repositories,
    configSets,
    configSetVersions,
    repositoryHost,
    environments: operatorEnvironments({ client: leaderClient, cache: caches.environments, deletions }),
    statusWriter: kubernetesStatusWriter({ client: leaderClient, type: environmentType, cache: caches.environments }),
    events: kubernetesEventRecorder({ ...settings, client: leaderClient, clock, log }),
    records: kubernetesRecords({ client: leaderClient, namespace: settings.namespace }),
    environment: (name) => caches.environments.get(name),
    environmentsOf: (repository) => caches.environments.by(BY_REPOSITORY, repository),
    deployer: argocdDeployer(cluster, settings.deployer, clock),
    pods: kubernetesPods(leaderClient, clock),
    secretManager: secretManagers.forController,
    prober: options.prober ?? newProber(),
    serverClock,
    generateSecret: randomSecret,
  });
  const reconcile = createReconciler(context);
  const recordOthers = () =>
    options.audit === undefined
      ? () => undefined
      : recordOutOfBandChanges({ caches, audit: options.audit, deletions, newId: randomUUID });
  const liveEnvironments = async () => (await leaderClient.list(environmentType, { keep: withConfigSet })).items;
  const discard = discardWhenUnused({
    versions: context.configSetVersions,
    environmentsOf: (configSet) => caches.environments.by(BY_CONFIG_SET, configSet),
    liveEnvironments,
  });
  const checkRepository = createRepositoryReconciler({
    ...context,
    statusWriter: kubernetesStatusWriter({ client: leaderClient, type: repositoryType, cache: caches.repositories }),
    isUsed: (name) => caches.environments.by(BY_REPOSITORY, name).length > 0,
  });
  const uidsOf = async <T extends KubeObject>(type: ResourceType<T>, scope: { readonly namespace?: string } = {}) => {
    const { items } = await leaderClient.list(type, { ...scope, metadataOnly: true, keep: withUid });
    return items.map(({ metadata }) => metadata.uid);
  };
  const livingTokens = () => uidsOf(apiTokenType, { namespace: settings.namespace });
  const livingUids = async () => {
    const asked = [uidsOf(environmentType), livingTokens()] as const;
    const [ofEnvironments, ofTokens] = await Promise.all(asked);
    return { environments: ofEnvironments, tokens: ofTokens };
  };
  const isKnown = (uid: string) =>
    [caches.environments, caches.apiTokens].some((cache) => cache.by(BY_UID, uid).length > 0);
  const sweep = createSweep({
    ...context,
    livingUids,
    belongings: () => OWNED_KINDS.flatMap(({ plural }) => caches.children.get(plural)?.list() ?? []),
    isKnown,
  });
  const dropTokens = deleteExpiredTokens({
    ...context,
    apiTokens: kubernetesApiTokens({ ...tokens, client: leaderClient, deletions }),
  });
  const tokenValues = createOrphanedValues({ ...context, livingTokens, isKnown });
  return {
    ports: {
      environments,
      repositories,
      repositoryReloads: kubernetesRepositoryReloads({
        ...{ client, cache: caches.repositories, namespace: settings.namespace, clock },
      }),
      branchHeads: createBranchHeads({
        ...{ settings, clock, secretManager: secretManagers.forApi, repositoryHost: hostForUsers },
      }),
      configSets,
      chartTemplates: chartTemplates(settings),
      apiTokens,
      health: kubernetesPlatformHealth({
        ...{ client, caches, deployerNamespace, clock },
        circuitBreakers: secretManagers.circuitBreakers,
        expirationsBlocked: () => areExpirationsBlocked({ environments: caches.environments, settings, clock }),
      }),
      secretManager: secretManagers.forApi,
      prober: options.prober ?? newProber(),
      podLogs: kubernetesPodLogs({ client, cluster, clock }),
      deployerLog: argocdDeployerLog(kubernetesCluster({ client, watched: caches.children, clock }), settings.deployer),
    },
    get missing() {
      return caches.missing;
    },
    get alive() {
      return caches.alive;
    },
    start(signal) {
      caches.start();
      return caches.whenSynced(signal);
    },
    async reconcile(signal, isLeading = () => true) {
      mayWrite = isLeading;
      const counted = options.metrics === undefined ? {} : { metrics: options.metrics };
      const shared = { log, clock, random: options.random, queue: { backoffMs: BACKOFF_MS }, ...counted };
      const { workers } = settings.reconcile;
      const passes = createController({ ...shared, name: "environments", reconcile, workers });
      const checks = createController({ ...shared, name: "repositories", reconcile: checkRepository, workers: 8 });
      const unused = createController({ ...shared, name: "config set versions", reconcile: discard, workers: 1 });
      const sweepTokenValues = tokenValues.sweep;
      const housekeeper = createGarbageCollector({ ...context, ...counted, sweep, dropTokens, sweepTokenValues });
      const ends = [
        enqueueOnChanges(caches, passes.enqueue.bind(passes)),
        enqueueOnRepositories(caches, checks.enqueue.bind(checks)),
        enqueueOnDisuse(caches, unused.enqueue.bind(unused)),
        recordOthers(),
        removeOnDeletion(caches.apiTokens, deletions, (deleted) => {
          tokenValues.deleted(deleted);
          housekeeper.enqueue("token values");
        }),
      ];
      for (const { metadata } of oldestFirst(caches.environments.list())) passes.enqueue(metadata.name, "low");
      for (const { metadata } of caches.repositories.list()) checks.enqueue(metadata.name, "low");
      for (const { metadata } of caches.revisions.list()) unused.enqueue(metadata.name, "low");
      await runUntil(signal, { controllers: [passes, checks, unused, housekeeper], term, clock });
      for (const end of ends) end();
    },
    async stop() {
      await caches.stop();
      const { forController, forApi } = secretManagers;
      await Promise.all(
        [client, leaderClient, repositoryHost, hostForUsers, forController, forApi].map((open) => open.close()),
      );
    },
  };
}

interface Work {
  readonly controllers: readonly Controller[];
  /** Its end cuts the calls of the passes. */
  readonly term: AbortController;
  readonly clock: Clock;
}

async function runUntil(signal: AbortSignal, { controllers, term, clock }: Work): Promise<void> {
  for (const controller of controllers) controller.start();
  if (!signal.aborted) await new Promise((ended) => signal.addEventListener("abort", ended, { once: true }));
  // A lost lease allows no more work at all: another process may lead already.
  const graceMs = signal.reason === "lost" ? 0 : DRAIN_MS;
  const cut = () => term.abort();
  if (graceMs === 0) cut();
  const cancel = clock.setTimer(graceMs, cut);
  await Promise.all(controllers.map((controller) => controller.stop({ graceMs })));
  cancel();
  cut();
}

/** What is asked of ten thousand environments is taken from each as it comes in; the rest is never held. */
const withUid = <T extends KubeObject>({ metadata: { uid } }: T) => ({ metadata: { uid } }) as T;

function withConfigSet({ spec, status }: EphemeralEnvironment): EphemeralEnvironment {
  return { spec: { configSet: spec.configSet }, status: { configSet: status?.configSet } } as EphemeralEnvironment;
}

function proberSettings({ ingressAddress, ingressCaFile }: Settings) {
  return { ingressAddress, ca: ingressCaFile === undefined ? undefined : readFileSync(ingressCaFile, "utf8") };
}

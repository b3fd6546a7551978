import { randomBytes, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { gitRepositoryHost } from "../adapters/git/repository-host.ts";
import { hostCalls } from "../adapters/host-api/host-calls.ts";
import { kubernetesRollupStore } from "../adapters/kubernetes/records/rollups.ts";
import { recordOutOfBandChanges } from "../audit/out-of-band-changes.ts";
import { type ControllerDependencies, controllers } from "../controllers/index.ts";
import { runControllers } from "../kit/controller/manager.ts";
import type { AuditTrail } from "../ports/audit-trail.ts";
import type { Metrics } from "../ports/metrics.ts";
import type { SecretManager } from "../ports/secret-manager.ts";
import { countedMetrics } from "../rollups/counted-metrics.ts";
import { createRecorder, flushRegularly } from "../rollups/recorder.ts";
import { type ApiOptions, apiPorts } from "./api-ports.ts";
import { type ControllerOptions, controllerDependencies } from "./controllers.ts";
import { createDependencies, type Dependencies, type DependencyOptions } from "./dependencies.ts";
import { hostApis } from "./hosts.ts";

/** Start options of the process, with interceptors for tests and benchmarks. */
export interface OperatorOptions extends DependencyOptions, ControllerOptions, ApiOptions {
  /** Stands around all that controllers reach through ports; for injecting faults where no request can tell. */
  readonly onPorts?: (context: ControllerDependencies) => ControllerDependencies;
}

/** Half a minute after any dependency's return everything is in its desired state. */
const BACKOFF_MS = { first: 500, longest: 15_000 };

/** The operator's part of the process. */
export type Operator = ReturnType<typeof createOperator>;

/** Operator part of the process: watches, controllers, and the API's ports. Waits for `start`. */
export function createOperator(options: OperatorOptions) {
  const dependencies = createDependencies(options);
  const { settings, log, clock, client, leaderClient, term, watches, caches, tracing } = dependencies;
  const { secretManagers, messaging, costMonitor, ingressTraffic } = dependencies;
  const { random, onPorts = (context: ControllerDependencies) => context } = options;
  const { recorder, metrics } = createRecording(dependencies, options.metrics);
  const calls = hostCalls(log);
  // Separate, so that neither waits for the other's connections.
  const hostsBy = (secretManager: SecretManager) => ({
    repositoryHost: dependencies.observed("repository-host", gitRepositoryHost()),
    apis: hostApis(settings, { secretManager, clock, calls, tracing }),
  });
  const hostsForController = hostsBy(secretManagers.forController);
  const hostsForApi = hostsBy(secretManagers.forApi);
  const list = controllers(onPorts(controllerDependencies(dependencies, hostsForController, options)));
  let isLeadingNow = () => false;
  let endRecording = async () => {};
  options.metrics?.observe({ caches, watches, hostCalls: calls, isLeading: () => isLeadingNow(), clock });
  return {
    ports: apiPorts(dependencies, hostsForApi, { ...options, metrics }),
    /** Metrics of the options, which also record what must outlive the process. */
    metrics,
    /** Kinds without a first complete list, such as `applications.argoproj.io`. */
    get missing() {
      return watches.missing;
    },
    /** False when a watch hangs, so that only a restart helps. */
    get alive() {
      return watches.alive;
    },
    /** Starts the watches; resolves when every cache has its first complete list. */
    start(signal: AbortSignal): Promise<void> {
      watches.start();
      if (recorder !== undefined) endRecording = flushRegularly(recorder, clock);
      return watches.whenSynced(signal);
    },
    /**
     * Runs the controllers, once, until the signal aborts; then running reconciles get a second, or (on the TermEnd
     * `lost`) are aborted at once. They write only while `isLeading`. For the leader.
     */
    async reconcile(signal: AbortSignal, isLeading = () => true): Promise<void> {
      term.begin(isLeading);
      isLeadingNow = isLeading;
      const subscriptions = auditSubscriptions(dependencies, options.audit);
      const shared = { log, clock, random, metrics: metrics?.controllers, tracing };
      const context = { ...shared, subscriptions, backoffMs: BACKOFF_MS, cutCalls: term.end };
      await runControllers(list, context, signal);
    },
    async stop(): Promise<void> {
      await endRecording();
      await watches.stop();
      const hosts = [hostsForController, hostsForApi].flatMap(({ repositoryHost, apis }) => [repositoryHost, apis]);
      const { forController, forApi } = secretManagers;
      const open = [client, leaderClient, ...hosts, forController, forApi, messaging.chat];
      await Promise.all(open.map((connections) => connections.close()));
      await costMonitor?.close();
      await ingressTraffic?.close();
    },
  };
}

function auditSubscriptions({ caches, deletions }: Dependencies, audit: AuditTrail | undefined) {
  if (audit === undefined) return [];
  return [() => recordOutOfBandChanges({ caches, audit, deletions, newId: randomUUID })];
}

/** Unique name of a process, different even for the pod's next one. */
export function processIdentity(): string {
  return `${hostname()}-${randomBytes(4).toString("hex")}`;
}

/** Name in metrics of the loop that stores what was counted. */
const LOOP = "request counts";

/** Metrics that also count for the recorder, which keeps what must outlive the process; neither without metrics. */
function createRecording({ client, settings, clock, log }: Dependencies, metrics?: Metrics) {
  if (metrics === undefined) return {};
  const store = kubernetesRollupStore({ client, namespace: settings.namespace });
  const stored = () => metrics.loopSucceeded(LOOP);
  const recorder = createRecorder({ store, writer: processIdentity(), clock, log, stored });
  return { recorder, metrics: countedMetrics(metrics, recorder) };
}

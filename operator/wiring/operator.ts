import { randomBytes, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { gitRepositoryHost } from "../adapters/git/repository-host.ts";
import { hostCalls } from "../adapters/host-api/host-calls.ts";
import { kubernetesRollupStore } from "../adapters/kubernetes/records/rollups.ts";
import { recordOutOfBandChanges } from "../audit/out-of-band-changes.ts";
import { type ControllerDependencies, controllers } from "../controllers/index.ts";
import { runControllers } from "../kit/controller/manager.ts";
import type { AuditTrail } from "../ports/audit-trail.ts";
import type { Metrics } from "../ports/observability/metrics.ts";
import { countedMetrics } from "../rollups/counted-metrics.ts";
import { createRecorder, flushRegularly, type Recorder } from "../rollups/recorder.ts";
import { type ApiOptions, apiPorts } from "./api-ports.ts";
import { type ControllerOptions, controllerDependencies } from "./controllers.ts";
import { createDependencies, type Dependencies, type DependencyOptions } from "./dependencies.ts";
import { hostApis } from "./hosts.ts";

/** Start options of the process, with interceptors for tests and benchmarks. */
export interface OperatorOptions extends DependencyOptions, ControllerOptions, ApiOptions {
  /** Stands around all that controllers reach through ports; for injecting faults where no request can tell. */
  readonly onPorts?: (context: ControllerDependencies) => ControllerDependencies;
  /** Records changes that bypass the REST interface. */
  readonly audit?: AuditTrail;
}

/** Half a minute after any dependency's return everything is in its desired state. */
const BACKOFF_MS = { first: 500, longest: 15_000 };

/** The operator's part of the process. */
export type Operator = ReturnType<typeof createOperator>;

/** Operator part of the process: watches, controllers, and the API's ports. Waits for `start`. */
export function createOperator(options: OperatorOptions) {
  const dependencies = createDependencies(options);
  const { client, leaderClient, term, watches, secretManagers, messaging, observed, tracing, log, clock } =
    dependencies;
  const { allocations } = dependencies;
  const { random, onPorts = (context: ControllerDependencies) => context } = options;
  const { recorder, metrics } = createRecording(dependencies, options.metrics);
  // Separate, so that neither waits for the other's connections.
  const gitHost = () => observed("repository-host", gitRepositoryHost());
  const [hostForController, hostForApi] = [gitHost(), gitHost()];
  const { settings } = dependencies;
  const calls = hostCalls(log);
  const apisForController = hostApis(settings, { secretManager: secretManagers.forController, clock, calls, tracing });
  const apisForApi = hostApis(settings, { secretManager: secretManagers.forApi, clock, calls, tracing });
  const hosts = { repositoryHost: hostForController, apis: apisForController };
  const list = controllers(onPorts(controllerDependencies(dependencies, hosts, options)));
  let isLeadingNow = () => false;
  let endRecording = async () => {};
  const { caches } = dependencies;
  options.metrics?.observe({ caches, watches, hostCalls: calls, isLeading: () => isLeadingNow(), clock });
  return {
    ports: apiPorts(dependencies, { repositoryHost: hostForApi, apis: apisForApi }, { ...options, metrics }),
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
      await runControllers(
        list,
        {
          log,
          clock,
          random,
          metrics: metrics?.controllers,
          tracing,
          subscriptions,
          backoffMs: BACKOFF_MS,
          cutCalls: term.end,
        },
        signal,
      );
    },
    async stop(): Promise<void> {
      await endRecording();
      await watches.stop();
      const { forController, forApi } = secretManagers;
      const open = [client, leaderClient, hostForController, hostForApi, apisForController, apisForApi];
      await Promise.all([...open, forController, forApi, messaging.chat].map((connections) => connections.close()));
      await allocations?.close();
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

/** As metrics name the storing of what was counted. */
const LOOP = "request counts";

/** The figures that a process counts, and the recorder that keeps what has to outlive the process; neither where nothing is counted. */
function createRecording(
  { client, settings, clock, log }: Dependencies,
  metrics: Metrics | undefined,
): { readonly recorder?: Recorder; readonly metrics?: Metrics } {
  if (metrics === undefined) return {};
  const store = kubernetesRollupStore({ client, namespace: settings.namespace });
  const stored = () => metrics.loopSucceeded(LOOP);
  const recorder = createRecorder({ store, writer: processIdentity(), clock, log, stored });
  return { recorder, metrics: countedMetrics(metrics, recorder) };
}

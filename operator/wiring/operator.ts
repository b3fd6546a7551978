import { randomUUID } from "node:crypto";
import { gitRepositoryHost } from "../adapters/git/repository-host.ts";
import { hostCalls } from "../adapters/host-api/host-calls.ts";
import { recordOutOfBandChanges } from "../audit/out-of-band-changes.ts";
import { type ControllerContext, controllers } from "../controllers/index.ts";
import { runControllers } from "../kit/controller/manager.ts";
import type { AuditTrail } from "../ports/audit-trail.ts";
import { flushRegularly } from "../rollups/flushing.ts";
import { type ControllerOptions, controllerContext } from "./controllers.ts";
import { type FacadeOptions, facadePorts } from "./facade-ports.ts";
import { createFoundations, type FoundationOptions, type Foundations } from "./foundations.ts";
import { hostApis } from "./hosts/host-apis.ts";
import { createRecording } from "./recording.ts";

/** What the process is started with, and the seams of tests and benchmarks. */
export interface OperatorOptions extends FoundationOptions, ControllerOptions, FacadeOptions {
  /** Stands around all that controllers reach through ports; for injecting faults where no request can tell. */
  readonly onPorts?: (context: ControllerContext) => ControllerContext;
  /** Where changes that bypass the REST interface are recorded. */
  readonly audit?: AuditTrail;
}

/** However long a dependency was away: half a minute after its return everything is as wanted. */
const BACKOFF_MS = { first: 500, longest: 15_000 };

/** What the process starts, asks and stops. */
export type Operator = ReturnType<typeof createOperator>;

/**
 * The operator's half of the process: the watches, the controllers, and the ports that the facade stands on. It waits for
 * `start`.
 */
export function createOperator(options: OperatorOptions) {
  const foundations = createFoundations(options);
  const { client, leaderClient, term, watches, secretManagers, messaging, observed, tracing, log, clock } = foundations;
  const { allocations } = foundations;
  const { random, onPorts = (context: ControllerContext) => context } = options;
  const { recorder, metrics } = createRecording(foundations, options.metrics);
  // Apart, so that the connections of one never wait for those of the other.
  const gitHost = () => observed("repository-host", gitRepositoryHost());
  const [hostForController, hostForApi] = [gitHost(), gitHost()];
  const { settings } = foundations;
  const calls = hostCalls(log);
  const apisForController = hostApis(settings, { secretManager: secretManagers.forController, clock, calls, tracing });
  const apisForApi = hostApis(settings, { secretManager: secretManagers.forApi, clock, calls, tracing });
  const hosts = { repositoryHost: hostForController, apis: apisForController };
  const list = controllers(onPorts(controllerContext(foundations, hosts, options)));
  let isLeadingNow = () => false;
  let endRecording = async () => {};
  const { caches } = foundations;
  options.metrics?.observe({ caches, watches, hostCalls: calls, isLeading: () => isLeadingNow(), clock });
  return {
    ports: facadePorts(foundations, { repositoryHost: hostForApi, apis: apisForApi }, { ...options, metrics }),
    /** Those of the options; what has to outlive the process is recorded, too. */
    metrics,
    /** The kinds whose first complete list has not come yet, such as `applications.argoproj.io`. */
    get missing() {
      return watches.missing;
    },
    /** False when a watch hangs, so that only a restart helps. */
    get alive() {
      return watches.alive;
    },
    /** Begins to watch; resolves when every cache has its first complete list. */
    start(signal: AbortSignal): Promise<void> {
      watches.start();
      if (recorder !== undefined) endRecording = flushRegularly(recorder, clock);
      return watches.whenSynced(signal);
    },
    /**
     * Runs the controllers, once, until the signal aborts; then lets reconciles in work end for a second, or (when it aborts
     * with the TermEnd `lost`) cuts them at once. They send no write while `isLeading` says no. For the leader.
     */
    async reconcile(signal: AbortSignal, isLeading = () => true): Promise<void> {
      term.begin(isLeading);
      isLeadingNow = isLeading;
      const subscriptions = auditSubscriptions(foundations, options.audit);
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
    /** Ends the watches and closes every connection. */
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

function auditSubscriptions({ caches, deletions }: Foundations, audit: AuditTrail | undefined) {
  if (audit === undefined) return [];
  return [() => recordOutOfBandChanges({ caches, audit, deletions, newId: randomUUID })];
}

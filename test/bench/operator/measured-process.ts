import { setTimeout as pause } from "node:timers/promises";
/**
 * The operator in a separate process, with its own memory and event loop. `startMeasuredOperator` starts it with its options
 * as the only argument, and reads its figures.
 */
import { settingsFrom } from "../../../config/settings.ts";
import { HOUR_MS } from "../../../crds/durations.ts";
import { environmentKind } from "../../../crds/environment/ephemeral-environment.ts";
import { repositoryKind } from "../../../crds/repository/repository.ts";
import { kubernetesEventRecorder } from "../../../operator/adapters/kubernetes/event-recorder.ts";
import { prometheusMetrics } from "../../../operator/adapters/prometheus/metrics.ts";
import type { ControllerDependencies } from "../../../operator/controllers/index.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import { configMapKind } from "../../../operator/kit/client/kinds.ts";
import { isWrite, type RequestInterceptor } from "../../../operator/kit/client/request.ts";
import type { PoolMetrics, PoolState } from "../../../operator/kit/controller/controller.ts";
import type { Clock } from "../../../operator/kit/time/clock.ts";
import type { EventRecorder } from "../../../operator/ports/event-recorder.ts";
import type { Metrics } from "../../../operator/ports/metrics.ts";
import type { UrlProber } from "../../../operator/ports/url-prober.ts";
import { around } from "../../../operator/wiring/dependencies.ts";
import { createOperator } from "../../../operator/wiring/operator.ts";
import { clockAhead } from "../../support/faults/skewed-clock.ts";
import { kubeConfigOf } from "../../support/fixtures/kube-config.ts";
import { silentLog } from "../../support/fixtures/silent-log.ts";
import { answerParent } from "../answer-parent.ts";
import { eventLoopDelays } from "../event-loop.ts";
import type { Figures, MeasuredOptions } from "./measured-operator.ts";
import { POISONOUS, SLOW } from "./names.ts";

/** Delay of the secret manager's failing calls for slow environments. */
const SLOW_MS = 10_000;
const BY_THE_CLOCK: readonly (string | undefined)[] = [repositoryKind.kind, configMapKind.kind];
const MIB = 2 ** 20;

const options: MeasuredOptions = JSON.parse(process.argv[2] ?? "{}");

const { delays, restart } = eventLoopDelays();
const lists: string[] = [];
const seen = new Set<string>();
const writes = new Map<string, number>();
const expired: Record<string, number> = {};
let reconciles = 0;
let pool: PoolState | undefined;
let peakBytes = 0;
let convergedAtMs: number | undefined;
let isSynced = false;
let scrapeBytes = 0;

const clock: Clock = clockAhead(options.aheadMs / HOUR_MS);
let isObserving = true;
const counted = prometheusMetrics();
// As in a pod, which has no kubeconfig.
const kubeConfig = kubeConfigOf(options, options.token);
const operator = createOperator({
  kubeConfig,
  clock,
  log: silentLog,
  random: Math.random,
  settings: settingsFrom(options.settings),
  prober: answering(),
  serverClock: { now: async () => new Date(Math.floor(clock.now().getTime() / 1000) * 1000) },
  onRequest: counting(),
  onPorts: troubled,
  metrics: metrics(),
  events: switchedEvents(),
});

const stopping = new AbortController();
const led = Promise.withResolvers<void>();
if (options.isStandby !== true) led.resolve();
answerParent(
  async (question) => {
    if (question === "scrape") scrapeBytes = Buffer.byteLength((await counted.scrape()).text);
    if (question === "another look whether it has converged") convergedAtMs = undefined;
    if (question === "restart of the delays") restart();
    if (question === "leadership") led.resolve();
    if (question === "metrics and Events") isObserving = true;
    if (question === "neither metrics nor Events") isObserving = false;
    return figures();
  },
  () => {
    stopping.abort();
    led.resolve();
  },
);
setInterval(lookAtMemory, 100).unref();
await operator.start(AbortSignal.timeout(300_000));
isSynced = true;
await led.promise;
const leading = operator.reconcile(stopping.signal);
lookWhetherConverged();
await leading;
await operator.stop();
process.exit(0);

function figures(): Figures {
  lookAtMemory();
  lookWhetherConverged();
  return {
    ...(convergedAtMs === undefined ? {} : { convergedAtMs }),
    isSynced,
    reconciles,
    cpuSeconds: cpuSeconds(),
    writes: Object.fromEntries(writes),
    expired,
    rssMib: process.memoryUsage.rss() / MIB,
    peakMib: peakBytes / MIB,
    heapMib: process.memoryUsage().heapUsed / MIB,
    scrapeBytes,
    delays: delays(),
    lists,
  };
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function lookAtMemory(): void {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
}

/** Converged: every existing environment has been reconciled, and none is queued. */
function lookWhetherConverged(): void {
  if (!isSynced || convergedAtMs !== undefined || pool === undefined || pool.depth > 0 || reconciles < seen.size)
    return;
  if (operator.ports.environments.list().every(({ metadata }) => seen.has(metadata.name))) convergedAtMs = Date.now();
}

/** The platform's own metrics while they are on; reconciles of environments are recorded, too. */
function metrics(): Metrics {
  return {
    ...counted,
    onKubeRequest: (request, next) => (isObserving ? counted.onKubeRequest(request, next) : next()),
    onServiceCall: (call, next) => (isObserving ? counted.onServiceCall(call, next) : next()),
    controllers: {
      of(controller, state) {
        const counts = switchedCounts(counted.controllers.of(controller, state));
        if (controller.name !== "environments") return counts;
        pool = state;
        return {
          ...counts,
          reconciled(outcome, durationMs) {
            counts.reconciled(outcome, durationMs);
            reconciles += 1;
            if (state.depth === 0) lookWhetherConverged();
          },
        };
      },
    },
  };
}

function switchedCounts(counts: PoolMetrics): PoolMetrics {
  return {
    added: () => isObserving && counts.added(),
    retried: () => isObserving && counts.retried(),
    taken: (waitedMs) => isObserving && counts.taken(waitedMs),
    reconciled: (outcome, durationMs) => isObserving && counts.reconciled(outcome, durationMs),
  };
}

/** The platform's own recorder, with separate connections, while it is on. */
function switchedEvents(): EventRecorder {
  const client = createKubeClient({ kubeConfig, onRequest: around(counted.onKubeRequest, counting()) });
  const names = { namespace: "ephemeral-system", serviceAccount: "ephemeral-environments", instance: "measured" };
  const recorder = kubernetesEventRecorder({ client, clock, log: silentLog, ...names });
  return { publish: (event, environment) => isObserving && recorder.publish(event, environment) };
}

function counting(): RequestInterceptor {
  return async ({ verb, type, name = "", subresource, path, query }, next) => {
    if (query.sendInitialEvents === "true")
      lists.push(`${path}?${new URLSearchParams(JSON.parse(JSON.stringify(query)))}`);
    // Checks of Repositories and stored counts recur by the clock, whatever the environments do.
    if (!isWrite(verb) || BY_THE_CLOCK.includes(type?.kind)) return next();
    const what = [verb, type?.kind, subresource].filter(Boolean).join(" ");
    writes.set(what, (writes.get(what) ?? 0) + 1);
    const answer = await next();
    if (verb === "delete" && type?.kind === environmentKind.kind) expired[name] = clock.now().getTime();
    return answer;
  };
}

function answering(): UrlProber {
  return { probe: async () => ({ status: "healthy", responseTimeMs: 1, message: "it answered 200" }) };
}

/** The context with the faults of the broken environments that stand beside the others. */
function troubled(context: ControllerDependencies): ControllerDependencies {
  const { secretManager } = context;
  return {
    ...context,
    environment(name) {
      seen.add(name);
      if (name.startsWith(POISONOUS)) throw new Error("this environment can't be reconciled");
      return context.environment(name);
    },
    secretManager: Object.assign(Object.create(secretManager), {
      async ensure(...[owner, requests]: Parameters<typeof secretManager.ensure>) {
        if (!owner.name.startsWith(SLOW)) return secretManager.ensure(owner, requests);
        await pause(SLOW_MS);
        throw new Error("the secret manager took too long");
      },
    }),
  };
}

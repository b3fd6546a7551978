import { randomBytes } from "node:crypto";
import { flushCompileCache } from "node:module";
import { createApp } from "../api/app.ts";
import { startServer } from "../api/http/server.ts";
import { currentAuditId } from "../api/request-context.ts";
import { readSettings, type Settings } from "../config/settings.ts";
import packageJson from "../package.json" with { type: "json" };
import { prometheusMetrics } from "./adapters/prometheus/metrics.ts";
import { createKubeClient } from "./kit/client/create-kube-client.ts";
import type { KubeConfigSource } from "./kit/client/credentials.ts";
import type { KubeClient } from "./kit/client/kube-client.ts";
import type { ObjectRef } from "./kit/client/objects.ts";
import { LeaderElector, leases, type TermEnd } from "./kit/leader/leader-election.ts";
import { type Log, winstonLog } from "./kit/log.ts";
import { pause, systemClock } from "./kit/time/clock.ts";
import { followLogLevel } from "./log-level.ts";
import { serveProbes } from "./probes.ts";
import { exitOnLostErrors, kubeConfigOf, stopSignal } from "./process.ts";
import { createOperator, type Operator, processIdentity } from "./wiring/operator.ts";
import { auditTrailOf, identityProviderOf, sharedCountersOf, tracingOf } from "./wiring/technologies.ts";

/** Heap above which a collection would block the process for longer than the memory is worth. */
const SMALL_HEAP_BYTES = 64 * 2 ** 20;
const LEASE_NAME = "platform";
const LOST_EXIT_MS = 3_000;
const ANSWER_EVERY_MS = 1_000;
const ANSWER_DEADLINE_MS = 5_000;

/**
 * Runs the platform's process until it is told to stop, or loses its lease: operator and REST API, which know of each
 * other only here.
 */
export async function run(settings: Settings, settingsFile: string): Promise<void> {
  const log = winstonLog({ level: settings.logLevel });
  const unfollow = followLogLevel({ path: settingsFile, read: readSettings }, log);
  exitOnLostErrors(log);
  const stopping = stopSignal();
  const kubeConfig = await kubeConfigOf(process.env);
  const clock = systemClock;
  const audit = auditTrailOf(settings, { clock, log });
  const metrics = prometheusMetrics();
  const version = packageJson.version;
  const tracing = await tracingOf(settings, { log, clock, version, instance: processIdentity() });
  const shared = { settings, log, clock, audit, tracing };
  const operator = createOperator({ ...shared, kubeConfig, random: Math.random, auditId: currentAuditId, metrics });
  const probes = await serveProbes(settings.probes, operator, metrics);
  const counters = sharedCountersOf(settings, { clock, log });
  const closing = new AbortController();
  const app = createApp({
    ...shared,
    ...operator.ports,
    version,
    counters,
    metrics: operator.metrics ?? metrics,
    randomBytes,
    identityProvider: identityProviderOf(settings, clock),
    stopping: closing.signal,
  });
  // Serving begins before the caches are complete: until then requests are answered 503 instead of refused connections.
  const { host, port } = settings.api;
  const api = await startServer(app, { log, clock, host, port, proxies: settings.api, stopping: closing });
  const settleMs = settings.api.settleSeconds * 1000;
  stopping.addEventListener("abort", () => void api.stop({ settleMs }), { once: true });
  log.info("serving", { api: api.url, probes: probes.url, version });
  // Not only at the exit, which a crash does not reach.
  flushCompileCache();

  const ended = await work(operator, { settings, kubeConfig, log, stopping });
  await api.stop();
  await operator.stop();
  counters?.close();
  await Promise.all([audit.close(), tracing.close()]);
  probes.close();
  unfollow();
  log.info("stopped", { because: ended });
  process.exitCode = ended === "lost" ? 1 : 0;
}

/** Runs from the first watch to the last reconcile; ends when the process must stop or no longer leads. */
async function work(operator: Operator, context: LeadContext): Promise<string> {
  try {
    await operator.start(context.stopping);
  } catch (error) {
    if (context.stopping.aborted) return "stopping";
    throw error;
  }
  giveBackStartMemory();
  return lead(operator, context);
}

interface LeadContext {
  readonly settings: Settings;
  readonly kubeConfig: KubeConfigSource;
  readonly log: Log;
  readonly stopping: AbortSignal;
}

/** Reconciles while this process leads; every replica serves the API throughout. */
async function lead(operator: Operator, { settings, kubeConfig, log, stopping }: LeadContext): Promise<string> {
  if (!settings.leaderElection) {
    await operator.reconcile(stopping);
    return "stopping";
  }
  const client = createKubeClient({ kubeConfig, connections: 1, userAgent: "ephemeral-environments-elector" });
  const lease = { name: LEASE_NAME, namespace: settings.namespace };
  const elector = new LeaderElector({ client, lease, identity: processIdentity(), log });
  try {
    const onStartedLeading = (term: AbortSignal) => operator.reconcile(term, () => elector.isLeader());
    let mayEnd: Promise<void> | undefined;
    const onStoppedLeading = (end: TermEnd) => {
      if (end === "lost") mayEnd = untilAnswered(client, lease, stopping).then(exitSoon);
    };
    const ended = await elector.run({ onStartedLeading, onStoppedLeading }, stopping);
    // A replica that loses its lease keeps serving reads from its caches until a successor can start.
    await mayEnd;
    return ended;
  } finally {
    await client.close();
  }
}

/** Waits until the API server answers a read of stored data, which needs its database, or the process stops. */
async function untilAnswered(client: KubeClient, lease: ObjectRef, stopping: AbortSignal): Promise<void> {
  const answers = () =>
    client.find(leases, lease, { signal: AbortSignal.any([stopping, AbortSignal.timeout(ANSWER_DEADLINE_MS)]) }).then(
      () => true,
      () => false,
    );
  while (!stopping.aborted && !(await answers())) await pause(systemClock, ANSWER_EVERY_MS, stopping);
}

/**
 * Returns memory that only the start needed, a quarter of an idle process: V8 keeps the young space that loading
 * modules grew. Takes less than 100 ms; it grows again on demand.
 *
 * Does nothing without Node's `--expose-gc`, or with a large heap of many environments.
 */
function giveBackStartMemory(): void {
  if (process.memoryUsage().heapUsed < SMALL_HEAP_BYTES)
    globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
}

/** Hanging calls must not outlive the lease by much. */
function exitSoon(): void {
  setTimeout(() => process.exit(1), LOST_EXIT_MS).unref();
}

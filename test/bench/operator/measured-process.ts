/**
 * The operator in a process of its own, so that its memory and its event loop are its own. Started by
 * `startMeasuredOperator`, which tells it what to do in its one argument and asks it for its figures.
 */

import { monitorEventLoopDelay } from "node:perf_hooks";
import { KubeConfig } from "@kubernetes/client-node";
import { settingsFrom } from "../../../config/settings.ts";
import { environmentKind } from "../../../crds/ephemeral-environment.ts";
import type { ReconcilerContext } from "../../../operator/environment/reconciler.ts";
import type { Clock } from "../../../operator/kit/clock.ts";
import type { ControllerMetrics } from "../../../operator/kit/controller.ts";
import { isWrite, type RequestSeam } from "../../../operator/kit/kube-request.ts";
import { silentLog } from "../../../operator/kit/log.ts";
import { createOperator } from "../../../operator/operator.ts";
import type { UrlProber } from "../../../operator/ports/url-prober.ts";
import { clockAhead, serverClockAhead } from "../../support/skewed-clock.ts";
import type { Figures, MeasuredOptions } from "./measured-operator.ts";
import { POISONOUS, SLOW } from "./names.ts";

/** How long the secret manager takes for those whose name says so, before it fails. */
const SLOW_MS = 10_000;
const HOUR_MS = 3_600_000;
const MIB = 2 ** 20;

const options: MeasuredOptions = JSON.parse(process.argv[2] ?? "{}");
const kubeConfig = new KubeConfig();
kubeConfig.loadFromFile(options.kubeconfigPath);

const delays = monitorEventLoopDelay({ resolution: 1 });
const seen = new Set<string>();
const writes = new Map<string, number>();
const expired: Record<string, number> = {};
let passes = 0;
let depth = 0;
let peakBytes = 0;
let convergedAtMs: number | undefined;

const clock: Clock = clockAhead(options.aheadMs / HOUR_MS);
const operator = createOperator({
  kubeConfig,
  clock,
  log: silentLog,
  random: Math.random,
  settings: settingsFrom(options.settings),
  prober: answering(),
  serverClock: serverClockAhead(options.aheadMs / HOUR_MS),
  onRequest: counting(),
  onPorts: troubled,
  metrics: metrics(),
});

const stopping = new AbortController();
process.once("disconnect", () => process.exit(1));
process.on("message", (message: { ask: "figures" | "restart of the delays" | "stop" }) => {
  if (message.ask === "stop") return stopping.abort();
  if (message.ask === "restart of the delays") delays.reset();
  process.send?.(figures());
});
delays.enable();
setInterval(lookAtMemory, 100).unref();
await operator.start(AbortSignal.timeout(300_000));
const leading = operator.reconcile(stopping.signal);
lookWhetherConverged();
await leading;
await operator.stop();
process.exit(0);

function figures(): Figures {
  const milliseconds = (nanoseconds: number) => nanoseconds / 1e6;
  lookAtMemory();
  return {
    ...(convergedAtMs === undefined ? {} : { convergedAtMs }),
    passes,
    cpuSeconds: cpuSeconds(),
    writes: Object.fromEntries(writes),
    expired,
    rssMib: process.memoryUsage.rss() / MIB,
    peakMib: peakBytes / MIB,
    heapMib: process.memoryUsage().heapUsed / MIB,
    delayMs: {
      p50: milliseconds(delays.percentile(50)),
      p99: milliseconds(delays.percentile(99)),
      longest: milliseconds(delays.max),
    },
  };
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function lookAtMemory(): void {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
}

/** Converged: every environment that there is had a pass, and none waits for one. */
function lookWhetherConverged(): void {
  if (convergedAtMs !== undefined || depth > 0 || passes < seen.size) return;
  if (operator.environments.list().every(({ metadata }) => seen.has(metadata.name))) convergedAtMs = Date.now();
}

function metrics(): ControllerMetrics {
  return {
    queueDepth(controller, now) {
      if (controller === "environments") depth = now;
    },
    passed(controller) {
      if (controller !== "environments") return;
      passes += 1;
      if (depth === 0) lookWhetherConverged();
    },
  };
}

function counting(): RequestSeam {
  return async ({ verb, type, name = "", subresource }, next) => {
    if (!isWrite(verb)) return next();
    const what = [verb, type?.kind, subresource].filter(Boolean).join(" ");
    writes.set(what, (writes.get(what) ?? 0) + 1);
    const answer = await next();
    if (verb === "delete" && type?.kind === environmentKind.kind) expired[name] = clock.now().getTime();
    return answer;
  };
}

/** The URLs of environments answer at once: nothing is deployed on a control plane alone. */
function answering(): UrlProber {
  return { probe: async () => ({ status: "healthy", responseTimeMs: 1, message: "it answered 200" }) };
}

/** What a pass meets of the broken environments that stand beside the others. */
function troubled(context: ReconcilerContext): ReconcilerContext {
  const { secretManager } = context;
  return {
    ...context,
    environment(name) {
      seen.add(name);
      if (name.startsWith(POISONOUS)) throw new Error("nobody can make anything of this environment");
      return context.environment(name);
    },
    secretManager: Object.assign(Object.create(secretManager), {
      async ensure(...[owner, requests]: Parameters<typeof secretManager.ensure>) {
        if (!owner.name.startsWith(SLOW)) return secretManager.ensure(owner, requests);
        await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
        throw new Error("the secret manager took too long");
      },
    }),
  };
}

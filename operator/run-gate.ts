import { flushCompileCache } from "node:module";
import { RE2JS } from "re2js";
import { readSettings, type Settings } from "../config/settings.ts";
import { httpsIngressClient } from "./adapters/http/ingress-client.ts";
import { environmentType } from "./adapters/kubernetes/kinds.ts";
import { kubernetesSleepingEnvironments } from "./adapters/kubernetes/sleeping-environments.ts";
import { gateMetrics } from "./adapters/prometheus/gate.ts";
import { createGate } from "./gate/gate.ts";
import { GATE_AGENT } from "./gate/request.ts";
import { startGateServer } from "./gate/server.ts";
import { createCacheSet } from "./kit/cache/cache-set.ts";
import { createKubeClient } from "./kit/client/create-kube-client.ts";
import { winstonLog } from "./kit/log.ts";
import { systemClock } from "./kit/time/clock.ts";
import { followLogLevel } from "./log-level.ts";
import { serveProbes } from "./probes.ts";
import { exitOnLostErrors, kubeConfigOf, stopSignal } from "./process.ts";
import { contentOf } from "./wiring/file-content.ts";

/** Time for answers that are on their way when the gate stops. */
const GRACE_MS = 10_000;

/** Runs the gate's process until a signal stops it. */
export async function runGate(settings: Settings, settingsFile: string): Promise<void> {
  const log = winstonLog({ level: settings.logLevel });
  const unfollow = followLogLevel({ path: settingsFile, read: readSettings }, log);
  exitOnLostErrors(log);
  const stopping = stopSignal();
  const clock = systemClock;
  const metrics = gateMetrics();
  const { onKubeRequest: onRequest } = metrics;
  const kubeConfig = await kubeConfigOf(process.env);
  const client = createKubeClient({ kubeConfig, clock, userAgent: GATE_AGENT, onRequest });
  const watches = createCacheSet({ client, clock, log });
  const cache = watches.watch({ type: environmentType, withoutManagedFields: true, isInterned: true });
  const { baseDomain, publicPort, ingressAddress, ingressCaFile, gate: own } = settings;
  const ingress = httpsIngressClient({ publicPort, ingressAddress, ca: contentOf(ingressCaFile) });
  const gate = createGate({
    environments: kubernetesSleepingEnvironments({ client, cache, clock }),
    ingress,
    clock,
    log,
    baseDomain,
    trustedProxyHops: own.trustedProxyHops,
    isIgnoredAgent: agentMatcher(own.ignoredAgents),
    answered: metrics.answered,
    stopping,
  });
  metrics.observeHeld(() => gate.held);
  const probes = await serveProbes(own.probes, watches, metrics);
  const server = await startGateServer(gate, { host: own.host, port: own.port, clock });
  log.info("serving", { gate: server.url, probes: probes.url });
  flushCompileCache();
  watches.start();
  await new Promise<void>((resolve) => {
    if (stopping.aborted) resolve();
    stopping.addEventListener("abort", () => resolve(), { once: true });
  });
  await server.stop(GRACE_MS);
  await watches.stop();
  ingress.close();
  await client.close();
  probes.close();
  unfollow();
  log.info("stopped");
}

/** True for agents that one of the patterns finds, in any case. */
function agentMatcher(patterns: readonly string[]): (agent: string) => boolean {
  const compiled = patterns.map((pattern) => RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE));
  return (agent) => compiled.some((pattern) => pattern.matcher(agent).find());
}

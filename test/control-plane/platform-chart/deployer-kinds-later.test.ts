import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../config/settings.ts";
import { silentProgress } from "../../../deploy/build/progress.ts";
import { buildModule } from "../../../deploy/local/builds/build.ts";
import { goModules } from "../../../deploy/local/builds/modules.ts";
import { apiClient } from "../../../deploy/local/kubernetes/api-client.ts";
import { applyArgoCdKinds } from "../../../deploy/local/kubernetes/custom-kinds.ts";
import { prometheusMetrics } from "../../../operator/adapters/prometheus/metrics.ts";
import { systemClock } from "../../../operator/kit/time/clock.ts";
import { type ProbesServer, serveProbes } from "../../../operator/probes.ts";
import { createOperator, type Operator } from "../../../operator/wiring/operator.ts";
import { kubeConfigOf } from "../../support/fixtures/kube-config.ts";
import { silentLog } from "../../support/fixtures/silent-log.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { startTestPlane, type TestPlane } from "../../support/plane/test-plane.ts";

let plane: TestPlane;
let operator: Operator;
let probes: ProbesServer;
beforeAll(async () => {
  plane = await startTestPlane({ argoCd: false });
  const kubeConfig = kubeConfigOf(plane, plane.platform.token);
  operator = createOperator({
    settings: settingsFrom(testSettings),
    kubeConfig,
    log: silentLog,
    clock: systemClock,
    random: Math.random,
  });
  probes = await serveProbes({ host: "127.0.0.1", port: 0 }, operator, prometheusMetrics());
}, 180_000);
afterAll(async () => {
  await operator.stop();
  probes.close();
  await plane.stop();
}, 60_000);

async function readyz() {
  const reply = await fetch(`${probes.url}/readyz`);
  return { status: reply.status, text: await reply.text() };
}

async function installArgoCd(): Promise<void> {
  const client = apiClient({ url: plane.url, caFile: plane.caFile, token: plane.adminToken });
  try {
    await applyArgoCdKinds(client, await buildModule(goModules.controlplane, silentProgress));
  } finally {
    client.close();
  }
}

test("a process that starts without Argo CD's kinds says so, and is ready when they come", async () => {
  const started = operator.start(AbortSignal.timeout(120_000));
  const lacksThemAlone = async () => {
    const reply = await readyz();
    return reply.text.includes("list yet of applications.argoproj.io") && reply;
  };
  const waiting = await until(lacksThemAlone, { what: "the other kinds being listed", deadlineMs: 30_000 });
  expect(waiting).toEqual({
    status: 503,
    text: "not ok: no complete list yet of applications.argoproj.io, appprojects.argoproj.io\n",
  });
  const { health } = operator.ports;
  expect(await health.check()).toMatchObject({ datastore: { healthy: true }, deployer: { healthy: false } });

  await installArgoCd();
  await started;
  expect(await readyz()).toEqual({ status: 200, text: "ok\n" });
  const isHealthy = async () => (await health.check()).deployer.healthy;
  await until(isHealthy, { what: "the deployer being healthy", deadlineMs: 10_000 });
}, 150_000);

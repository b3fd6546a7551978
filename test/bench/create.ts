/**
 * Measures the create path on the running local cluster, from a client: beside as many raw writes in the same run, and beside
 * the deployer's time, which no operator can shorten.
 */
import { applicationKind } from "../../operator/adapters/argocd/kinds.ts";
import { environmentType } from "../../operator/adapters/kubernetes/kinds.ts";
import { configMapKind, namespaceKind, secretKind } from "../../operator/kit/client/kinds.ts";
import type { KubeClient } from "../../operator/kit/client/kube-client.ts";
import type { KubeObject, ResourceType } from "../../operator/kit/client/objects.ts";
import { until } from "../support/fixtures/until.ts";
import { arrivals } from "./arrivals.ts";
import { openLocalCluster } from "./local-cluster.ts";
import { type Openings, optionsOf, runBenchmark } from "./run-benchmark.ts";
import { median, table } from "./table.ts";
import type { Verdict } from "./verdict.ts";

const options = optionsOf({ runs: { value: "10", help: "environments" } }, "The local cluster must run: 'make up'.");
const runs = Number(options.runs);
const { variables, admin, token } = await openLocalCluster();

/**
 * Number of writes until the three objects exist, because the namespace is isolated before anything can run in it: the
 * environment and its finalizer, the namespace, two quotas, a limit range, two network policies, the default account, the right to
 * write Secrets there, the Secret of the secret manager and that of the pods, the project, and the application.
 */
const WRITES = 14;

await runBenchmark(async ({ open }) => {
  await open({ stop: () => admin.close() });
  return measure(open);
});

async function measure(open: Openings["open"]): Promise<readonly Verdict[]> {
  const raw: number[] = [];
  const all: number[] = [];
  const existing: number[] = [];
  const healthy: number[] = [];
  const ready: number[] = [];
  for (let run = 0; run < runs; run++) {
    const name = `bench-${Date.now().toString(36)}-${run}`;
    await open({ stop: () => removeAll(name) });
    const writes = await rawWrites(admin, `${name}-raw`);
    raw.push(writes.threeMs);
    all.push(writes.allMs);
    const measured = await create(name);
    existing.push(measured.existingMs);
    healthy.push(measured.healthyMs);
    ready.push(measured.readyMs);
    process.stderr.write(`run ${run + 1} of ${runs}: ready after ${(measured.readyMs / 1000).toFixed(2)} s\n`);
  }
  const rows = [
    { name: "raw writes: Namespace, Secret, Application", samples: raw, unit: "ms" },
    { name: `${WRITES} raw writes, one after the other`, samples: all, unit: "ms" },
    { name: "POST → Namespace, Secret, Application exist", samples: existing, unit: "ms", baseline: all },
    { name: "POST → the deployer calls the application synced and healthy", samples: healthy, unit: "ms" },
    { name: "POST → ready, both URLs answered over HTTPS", samples: ready, unit: "ms", baseline: healthy },
  ];
  console.log(table(rows));
  const ratio = (one: readonly number[], other: readonly number[]) => median(one) / median(other);
  const detail = "medians of the rows above";
  return [
    {
      what: "POST until the three objects exist, beside their three raw writes",
      limit: 4,
      unit: "×",
      figure: ratio(existing, raw),
      detail,
    },
    {
      what: `POST until the three objects exist, beside ${WRITES} raw writes`,
      limit: 2,
      unit: "×",
      figure: ratio(existing, all),
      detail,
    },
    {
      what: "POST until ready, beside the deployer's part of it",
      limit: 1.3,
      unit: "×",
      figure: ratio(ready, healthy),
      detail,
    },
  ];
}

/** One client, one write after the other: times the three objects, and these with eleven ConfigMaps. */
async function rawWrites(client: KubeClient, name: string): Promise<{ threeMs: number; allMs: number }> {
  const began = performance.now();
  await client.create(namespaceKind, { metadata: { name } });
  await client.create(secretKind, { metadata: { name: "s", namespace: name }, data: { A: "YQ==" } });
  await client.create(applicationKind, application(name));
  const threeMs = performance.now() - began;
  for (let count = 3; count < WRITES; count += 1) {
    await client.create(configMapKind, { metadata: { name: `c-${count}`, namespace: name }, data: { a: "b" } });
  }
  const allMs = performance.now() - began;
  await client.delete(applicationKind, { name, namespace: "argocd" });
  await client.delete(namespaceKind, { name });
  await untilGone(client, namespaceKind, name);
  return { threeMs, allMs };
}

/** An application as large as a real one; without a project of its name Argo CD ignores it. */
function application(name: string) {
  const spec = {
    project: name,
    source: {
      repoURL: "http://127.0.0.1:9300/none.git",
      path: ".",
      helm: { valuesObject: { backend: { image: name } } },
    },
    destination: { server: "https://kubernetes.default.svc", namespace: name },
  };
  return { metadata: { name, namespace: "argocd" }, spec };
}

async function removeAll(name: string): Promise<void> {
  const raw = `${name}-raw`;
  await admin.delete(environmentType, { name });
  await admin.delete(applicationKind, { name: raw, namespace: "argocd" });
  await admin.delete(namespaceKind, { name: raw });
}

async function create(name: string): Promise<{ existingMs: number; healthyMs: number; readyMs: number }> {
  const seen = await arrivals(admin, [
    { type: namespaceKind, is: (object) => object.metadata.name === `env-${name}` },
    { type: secretKind, is: (object) => object.metadata.namespace === `env-${name}` },
    { type: applicationKind, is: (object) => object.metadata.name === `env-${name}` },
    { type: applicationKind, is: (object) => object.metadata.name === `env-${name}` && isHealthy(object) },
    {
      type: environmentType as ResourceType,
      is: (object) => object.metadata.name === name && phase(object) === "ready",
    },
  ]);
  const began = performance.now();
  const url = `${variables.API_URL}/api/environments`;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = JSON.stringify({
    environment_name: name,
    backend_repo: "sample-backend",
    backend_branch: "main",
    frontend_repo: "sample-frontend",
    frontend_branch: "main",
  });
  const reply = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(10_000) });
  if (reply.status !== 200) throw new Error(`POST was answered ${reply.status}: ${await reply.text()}`);
  const [namespace = 0, secret = 0, made = 0, healthy = 0, ready = 0] = await seen.times(60_000);
  await fetch(`${url}/${name}`, { method: "DELETE", headers, signal: AbortSignal.timeout(10_000) });
  await untilGone(admin, environmentType, name);
  const existing = Math.max(namespace, secret, made);
  return { existingMs: existing - began, healthyMs: healthy - began, readyMs: ready - began };
}

/** Waits for the end of a deletion, beside which nothing is measured: that of a namespace lists and deletes every kind in it. */
async function untilGone(client: KubeClient, type: ResourceType, name: string): Promise<void> {
  const isGone = async () => (await client.find(type, { name })) === undefined;
  await until(isGone, { what: `${type.kind} '${name}' to be gone`, deadlineMs: 60_000 });
}

/** Argo CD calls an application healthy before it has seen any of its objects; only what is synced, too, runs. */
function isHealthy(object: KubeObject): boolean {
  const { status } = object as { status?: { health?: { status?: string }; sync?: { status?: string } } };
  return status?.health?.status === "Healthy" && status.sync?.status === "Synced";
}

function phase(object: KubeObject): string | undefined {
  return (object as { status?: { phase?: string } }).status?.phase;
}

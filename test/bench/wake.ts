/**
 * Measures how a request wakes an environment of the running local cluster, beside `kubectl scale` of the same Deployment
 * until its Service answers; and requests to an awake environment, whose host the gate's wildcard covers, beside those to
 * the same Deployment at a host that it does not cover. Both by turns in the same run.
 */
import { get } from "node:http";
import { Agent } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { present } from "../../crds/present.ts";
import { run } from "../../deploy/build/run.ts";
import { FAR_HOURS } from "../../e2e/support/far-hours.ts";
import { environmentType } from "../../operator/adapters/kubernetes/kinds.ts";
import {
  deploymentKind,
  namespaceKind,
  podKind,
  secretKind,
  type WireObject,
  wireKind,
} from "../../operator/kit/client/kinds.ts";
import { until } from "../support/fixtures/until.ts";
import { hostOf, requestThroughIngress } from "./ingress-request.ts";
import { openLocalCluster } from "./local-cluster.ts";
import { type Openings, optionsOf, runBenchmark } from "./run-benchmark.ts";
import { median, table } from "./table.ts";
import type { Verdict } from "./verdict.ts";

const options = optionsOf(
  {
    rounds: { value: "5", help: "wakes of each kind" },
    requests: { value: "200", help: "requests to what is awake, of each kind and round" },
  },
  "The local cluster must run: 'make up'.",
);
const rounds = Number(options.rounds);
const requests = Number(options.requests);

const { variables, admin, token } = await openLocalCluster();

const DEADLINE_MS = 60_000;
/** Pause before the next look at a Service that does not answer. */
const LOOK_MS = 10;
const serviceKind = wireKind({ group: "", version: "v1", kind: "Service", plural: "services", namespaced: true });
const ingressKind = wireKind({
  group: "networking.k8s.io",
  version: "v1",
  kind: "Ingress",
  plural: "ingresses",
  namespaced: true,
});

async function measure(open: Openings["open"]): Promise<readonly Verdict[]> {
  const stamp = Date.now().toString(36);
  const names = Array.from({ length: rounds }, (_, round) => `bench-wake-${stamp}-${round}`);
  await open({ stop: () => Promise.all(names.map((name) => admin.delete(environmentType, { name }))) });
  await Promise.all(names.map(create));
  const copy = `bench-wake-${stamp}`;
  await open({ stop: () => admin.delete(namespaceKind, { name: copy }) });
  const address = await copyBackend(names[0] as string, copy);
  await Promise.all(names.map(fallAsleep));

  const scaled: number[] = [];
  const woken: number[] = [];
  const uncovered: number[] = [];
  const covered: number[] = [];
  for (const [round, name] of names.entries()) {
    scaled.push(await scaleUp(copy, address));
    woken.push(await ask(hostOf(name)));
    await until(() => isReady(name), { what: `'${name}' to be ready`, deadlineMs: DEADLINE_MS });
    await compareAwake({ name, copy }, { uncovered, covered });
    await scaleDown(copy);
    const figures = [woken, scaled].map((samples) => `${((samples[round] as number) / 1000).toFixed(2)} s`);
    process.stderr.write(`round ${round + 1} of ${rounds}: woken in ${figures[0]}, scaled in ${figures[1]}\n`);
  }
  console.log(
    table([
      { name: "kubectl scale 0 → 1 until the Service answers", samples: scaled, unit: "ms" },
      { name: "first request to a sleeping environment until 200", samples: woken, unit: "ms", baseline: scaled },
      { name: "request to the same Deployment, without a gate", samples: uncovered, unit: "ms" },
      { name: "request to an awake environment", samples: covered, unit: "ms", baseline: uncovered },
    ]),
  );
  return [
    {
      what: "first request to a sleeping environment, beside kubectl scale",
      limit: 1.15,
      unit: "×",
      figure: median(woken) / median(scaled),
      detail: "medians of the rows above",
    },
    {
      what: "request to an awake environment, beside one without a gate",
      limit: 1.15,
      unit: "×",
      figure: median(covered) / median(uncovered),
      detail: "medians of the rows above",
    },
  ];
}

/** The gate's wildcard covers no host of this domain. */
const uncoveredHost = (copy: string) => `${copy}.bench.localhost`;

async function call(method: string, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const signal = AbortSignal.timeout(10_000);
  const reply = await fetch(`${variables.API_URL}/api${path}`, { method, headers, body: JSON.stringify(body), signal });
  if (!reply.ok) throw new Error(`${method} ${path} was answered ${reply.status}: ${await reply.text()}`);
}

const statusOf = async (name: string) => (await admin.find(environmentType, { name }))?.status;
const isReady = async (name: string) => (await statusOf(name))?.phase === "ready";

async function create(name: string): Promise<void> {
  const backend = { backend_repo: "sample-backend", backend_branch: "main" };
  await call("POST", "/environments", { environment_name: name, ...backend });
  await until(() => isReady(name), { what: `'${name}' to be ready`, deadlineMs: DEADLINE_MS });
}

async function fallAsleep(name: string): Promise<void> {
  const id = `env-${name}`;
  await call("PATCH", `/v2/environments/${name}`, { sleep: FAR_HOURS });
  const isGone = async () => {
    const lists = [podKind, ingressKind].map((kind) => admin.list(kind, { namespace: id }));
    return (await Promise.all(lists)).every(({ items }) => items.length === 0);
  };
  const isAsleep = async () => (await statusOf(name))?.sleep?.state === "asleep" && (await isGone());
  await until(isAsleep, { what: `'${name}' to sleep`, deadlineMs: DEADLINE_MS });
}

interface Workload extends WireObject {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: readonly { readonly envFrom: readonly SecretRef[] }[] };
    };
  };
}

interface SecretRef {
  readonly secretRef: { readonly name: string };
}

/** Copies the backend of an environment, without pods, to a namespace and Ingress of its own; answers its Service's address. */
async function copyBackend(environment: string, namespace: string): Promise<string> {
  const source = { name: "backend", namespace: `env-${environment}` };
  const deployment = (await admin.find(deploymentKind, source)) as Workload | undefined;
  const service = await admin.find(serviceKind, source);
  if (deployment === undefined || service === undefined) throw new Error(`'${environment}' has no backend`);
  const { ports, selector } = service.spec as { readonly ports: readonly object[]; readonly selector: object };
  const metadata = { name: "backend", namespace };
  const [container] = deployment.spec.template.spec.containers;
  const [ref] = container?.envFrom ?? [];
  await admin.create(namespaceKind, { metadata: { name: namespace } });
  await admin.create(secretKind, { metadata: { name: ref?.secretRef.name ?? "", namespace }, data: {} });
  await admin.create(deploymentKind, { metadata, spec: { ...deployment.spec, replicas: 0 } });
  const { spec: made } = await admin.create(serviceKind, { metadata, spec: { ports, selector } });
  const backend = { service: { name: "backend", port: { name: "http" } } };
  const http = { paths: [{ path: "/", pathType: "Prefix", backend }] };
  const host = uncoveredHost(namespace);
  const spec = { ingressClassName: "traefik", tls: [{ hosts: [host] }], rules: [{ host, http }] };
  await admin.create(ingressKind, { metadata, spec });
  return (made as { readonly clusterIP: string }).clusterIP;
}

const scale = (namespace: string, replicas: number) =>
  run(variables.KUBECTL as string, [
    `--kubeconfig=${variables.KUBECONFIG}`,
    `--namespace=${namespace}`,
    "scale",
    "deployment/backend",
    `--replicas=${replicas}`,
  ]);

/** Milliseconds of `kubectl scale` until the Service answers. */
async function scaleUp(namespace: string, address: string): Promise<number> {
  const began = performance.now();
  await scale(namespace, 1);
  while (!(await answers(`http://${address}/`))) {
    if (performance.now() - began > DEADLINE_MS) throw new Error("the scaled Service does not answer");
    await pause(LOOK_MS);
  }
  return performance.now() - began;
}

async function scaleDown(namespace: string): Promise<void> {
  await scale(namespace, 0);
  const isGone = async () => (await admin.list(podKind, { namespace })).items.length === 0;
  await until(isGone, { what: "the end of the scaled pods", deadlineMs: DEADLINE_MS });
}

function answers(url: string): Promise<boolean> {
  return new Promise((done) => {
    const call = get(url, { agent: false, timeout: 1_000 }, (reply) => {
      reply.resume();
      reply.once("end", () => done(reply.statusCode === 200)).once("error", () => done(false));
    });
    call.once("timeout", () => call.destroy()).once("error", () => done(false));
  });
}

/** Milliseconds of a request through the ingress, which has to be answered 200. */
async function ask(host: string, agent?: Agent): Promise<number> {
  const { status, tookMs } = await requestThroughIngress(host, { ...present({ agent }), silenceMs: DEADLINE_MS });
  if (status !== 200) throw new Error(`'${host}' was answered ${status}`);
  return tookMs;
}

/** Adds requests to both, by turns, each over one connection. */
async function compareAwake(
  { name, copy }: { readonly name: string; readonly copy: string },
  { uncovered, covered }: { readonly uncovered: number[]; readonly covered: number[] },
): Promise<void> {
  const agents = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true })] as const;
  try {
    for (let count = 0; count < requests; count++) {
      uncovered.push(await ask(uncoveredHost(copy), agents[0]));
      covered.push(await ask(hostOf(name), agents[1]));
    }
  } finally {
    for (const agent of agents) agent.destroy();
  }
}

await runBenchmark(async ({ open }) => {
  await open({ stop: () => admin.close() });
  return measure(open);
});

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, jest, test } from "@jest/globals";
import { ask } from "./support/api.ts";
import { chartUrl, commitFolder, headOf, removeBranch } from "./support/chart-repository.ts";
import { Environments, madeFor, untilGone, untilReady, untilRegistered } from "./support/environments.ts";
import { apply, execInPod, kubectl, list, read, waitFor } from "./support/kubectl.ts";
import { open } from "./support/page.ts";
import { imageOf, podinfoChart, pushProgram, removeImage } from "./support/podinfo.ts";
import { checkout, TEST_DEADLINE_MS } from "./support/site.ts";
import { waitUntil } from "./support/wait.ts";

jest.setTimeout(2 * TEST_DEADLINE_MS);

const environments = new Environments();
const repository = `e2e-podinfo-${environments.mark}`;
const [REDIS, REDIS_TAG] = [`${repository}-redis`, "7"];

// Separate hooks: a failing one does not skip the others.
afterAll(() => environments.removeAll());
afterAll(() => kubectl("delete", "erepo", repository, "--namespace=ephemeral-system", "--ignore-not-found"));
afterAll(() => removeBranch(repository));
afterAll(() => removeImage(repository));
afterAll(() => removeImage(REDIS));

async function publish(): Promise<void> {
  await commitFolder(repository, "charts/podinfo", podinfoChart);
  await pushProgram("podinfo", repository, await headOf(repository));
  await pushProgram("redis", REDIS, REDIS_TAG);
}

/** The values by which docs/charts.md maps that chart, with the Redis of this test. */
async function exampleValues(): Promise<string> {
  const page = await readFile(join(checkout, "docs/charts.md"), "utf8");
  const [, example = ""] = page.slice(page.indexOf("\n## podinfo\n")).split("values: |\n", 2);
  return (example.split("```", 1)[0] ?? "")
    .replaceAll(/^ {2}/gm, "")
    .replace("registry.example.com/shop/redis", imageOf(REDIS));
}

async function register(values: string): Promise<void> {
  const cloneUrl = await chartUrl();
  const sample = await read<{ spec: object }>("erepo", "sample-backend", "--namespace=ephemeral-system");
  const chart = { repoUrl: cloneUrl, path: "charts/podinfo", revision: repository, values };
  const workloads = { backend: { labels: { "app.kubernetes.io/name": "podinfo" } } };
  const own = {
    cloneUrl,
    image: { repository: imageOf(repository) },
    port: 9898,
    healthPath: "/healthz",
    chart,
    workloads,
  };
  await apply({
    apiVersion: "ephemeral-environments.dev/v1",
    kind: "Repository",
    metadata: { name: repository, namespace: "ephemeral-system" },
    spec: { ...sample.spec, ...own },
  });
}

interface Pod {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly volumes?: readonly object[] };
}
const podsOf = (name: string) => list<Pod>("pods", `--namespace=env-${name}`);
const suspend = (name: string, suspended: boolean) =>
  kubectl("patch", "eenv", name, "--type=merge", `--patch=${JSON.stringify({ spec: { suspended } })}`);

interface Info {
  readonly version: string;
  readonly message: string;
}

/** podinfo's information about itself. https://github.com/stefanprodan/podinfo#readme, `/api/info` */
async function infoAt(url: string): Promise<Info | undefined> {
  const page = await open(`${url}/api/info`).catch(() => undefined);
  return page?.status === 200 ? (JSON.parse(page.body) as Info) : undefined;
}

const untilSeen = (name: string, what: string, check: () => Promise<boolean>) =>
  waitUntil({ what: `${what} of '${name}'`, check, deadlineMs: 120_000, pollMs: 1_000 });

test("podinfo, unmodified, becomes ready by a Repository alone, sleeps, wakes, is updated, shows its logs, and is gone", async () => {
  await publish();
  const values = await exampleValues();
  await register(values);
  await untilRegistered(repository);
  const name = environments.name("podinfo");
  const body = { environment_name: name, backend_repo: repository, backend_branch: repository, ttl: 1 };
  expect((await ask("POST", "/environments", { body })).status).toBe(200);
  const { metadata, status } = await untilReady(name);
  const url = status?.urls?.backend ?? "";

  // The program, behind its Ingress, with its Redis, scaled by its autoscaler; its hooks are Helm's tests, which Argo CD
  // leaves out.
  expect(await infoAt(url)).toMatchObject({ version: "6.9.2", runtime: expect.stringContaining("go") });
  expect((await open(`${url}/`)).status).toBe(200);
  const inside = `--namespace=env-${name}`;
  await waitFor(["--for=condition=Available", "deployment/podinfo-redis", inside]);
  await untilSeen(name, "its version in its Redis", async () => (await cachedIn(name)).startsWith("6.9.2"));
  const scaler = await read<{ spec: object }>("horizontalpodautoscaler", "podinfo", inside);
  expect(scaler.spec).toMatchObject({ minReplicas: 1, scaleTargetRef: { kind: "Deployment", name: "podinfo" } });
  const pods = await podsOf(name);
  expect(pods).toHaveLength(2);
  expect(JSON.stringify(pods.map(({ spec }) => spec.volumes))).not.toContain("serviceAccountToken");

  const { body: log } = await ask<{ logs: readonly object[] }>("GET", `/environments/${name}/logs/backend`);
  expect(JSON.stringify(log.logs)).toContain("Starting podinfo");

  await suspend(name, true);
  await untilSeen(name, "the end of the pods", async () => (await podsOf(name)).length === 0);
  await suspend(name, false);
  await untilSeen(name, "the answer after its sleep", async () => (await infoAt(url)) !== undefined);
  await untilReady(name);

  const message = "mapped anew";
  await register(`${values}\nui: {message: ${message}}\n`);
  await untilSeen(name, "the new values", async () => (await infoAt(url))?.message === message);
  await untilReady(name);

  await kubectl("delete", "eenv", name, "--wait=false");
  await untilGone(name);
  expect(await madeFor(metadata.uid)).toEqual([]);
});

/** The Redis's value under the name of podinfo's pod, where podinfo writes its version twice a minute. */
async function cachedIn(name: string): Promise<string> {
  const pods = await list("pods", `--namespace=env-${name}`, "--selector=app.kubernetes.io/name=podinfo");
  const key = pods[0]?.metadata.name ?? "";
  return execInPod("deployment/podinfo-redis", `--namespace=env-${name}`, "--", "redis-cli", "get", key);
}

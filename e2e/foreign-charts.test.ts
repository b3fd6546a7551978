import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, jest, test } from "@jest/globals";
import { ask } from "./support/api.ts";
import { helm } from "./support/chart-host.ts";
import { chartUrl, commitFolder, removeBranch } from "./support/chart-repository.ts";
import { Environments, madeFor, untilGone, untilReady, untilRegistered } from "./support/environments.ts";
import { apply, kubectl, list, read, waitFor } from "./support/kubectl.ts";
import { open } from "./support/page.ts";
import { checkout, TEST_DEADLINE_MS, tokens } from "./support/site.ts";
import { waitUntil } from "./support/wait.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
const repository = `e2e-foreign-${environments.mark}`;

// Separate hooks: a failing one does not skip the others.
afterAll(() => environments.removeAll());
afterAll(() => kubectl("delete", "erepo", repository, "--namespace=ephemeral-system", "--ignore-not-found"));
afterAll(() => removeBranch(repository));

/** Commits the chart that the local cluster's helm writes. */
async function commitCreatedChart(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "e2e-helm-"));
  try {
    await helm("create", join(folder, "app"));
    await commitFolder(repository, "foreign/app", join(folder, "app"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function exampleValues(): Promise<string> {
  const page = await readFile(join(checkout, "docs/charts.md"), "utf8");
  const [, example = ""] = page.slice(page.indexOf("\n## What `helm create` writes\n")).split("values: |\n", 2);
  return (example.split("```", 1)[0] ?? "").replaceAll(/^ {2}/gm, "");
}

/** Adds a rule for the further host `admin` to the Ingress. */
function withFurtherHost(values: string): string {
  const [rule = "no rule"] = /^ *- host: \$\{backend\.host\}\n.*\n/m.exec(values) ?? [];
  return values.replace(rule, () => rule + rule.replace("backend.host", "hosts.admin"));
}

const COMMIT = "ephemeral-environments.dev/commit";

interface Components {
  readonly status: { readonly components: { readonly backend: { readonly commit: string } } };
}

interface Logs {
  readonly workload: string | null;
  readonly total_lines: number;
}
interface Workloads {
  readonly workloads: readonly { readonly kind: string; readonly name: string }[];
}

/** Pods of such a chart name no component: they count as the backend's, whose log is not empty. */
async function expectWorkloads(name: string): Promise<void> {
  const path = `/v2/environments/${name}`;
  const { body } = await ask<{ data: Workloads }>("GET", `${path}/workloads`);
  expect(body.data.workloads).toMatchObject([
    { kind: "Deployment", name: "backend", component: "backend", pods_desired: 1, pods_ready: 1, problem: null },
  ]);
  const first = await ask<Logs>("GET", `/environments/${name}/logs/backend`);
  expect(first.body.total_lines).toBeGreaterThan(0);
  const named = await ask<{ data: Logs }>("GET", `${path}/logs/backend?workload=backend`);
  expect(named.body.data).toMatchObject({ workload: "Deployment/backend", total_lines: expect.any(Number) });
  expect(named.body.data.total_lines).toBeGreaterThan(0);
  const absent = await ask<{ detail: string }>("GET", `${path}/logs/backend?workload=redis`);
  expect([absent.status, absent.body.detail]).toEqual([404, expect.stringContaining("it has Deployment/backend")]);
}

interface Pod {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
}
const podsOf = (name: string) => list<Pod>("pods", `--namespace=env-${name}`);
const suspend = (name: string, suspended: boolean) =>
  kubectl("patch", "eenv", name, "--type=merge", `--patch=${JSON.stringify({ spec: { suspended } })}`);

test("the chart that helm create writes becomes ready by a Repository alone, sleeps, wakes, is mapped anew, and is gone", async () => {
  await commitCreatedChart();
  const sample = await read<{ spec: { image: { repository: string } } }>(
    "erepo",
    "sample-backend",
    "--namespace=ephemeral-system",
  );
  const chart = { repoUrl: await chartUrl(), path: "foreign/app", revision: repository };
  const register = async (values: string) =>
    apply({
      apiVersion: "ephemeral-environments.dev/v1",
      kind: "Repository",
      metadata: { name: repository, namespace: "ephemeral-system" },
      spec: { ...sample.spec, hosts: [{ name: "admin" }], chart: { ...chart, values } },
    });
  const values = withFurtherHost(await exampleValues());
  await register(values);
  await untilRegistered(repository);
  const name = environments.name("foreign");
  const body = { environment_name: name, backend_repo: repository, backend_branch: "main", ttl: 1 };
  expect((await ask("POST", "/environments", { body })).status).toBe(200);
  const { metadata, status } = await untilReady(name);
  const url = status?.urls?.backend ?? "";
  expect((await open(url)).status).toBe(200);
  const further = `https://${name}--admin.env.localhost:18443`;
  const administrator = { token: tokens.administrator };
  const shown = await ask<{ data: { urls: object } }>("GET", `/v2/environments/${name}`, administrator);
  expect(shown.body.data.urls).toEqual({ backend: url, hosts: { admin: further } });
  const checked = await ask<{ data: object }>("GET", `/v2/environments/${name}/check-all-urls`, administrator);
  expect(checked.body.data).toMatchObject({
    status: "healthy",
    details: { hosts: { admin: { url: further, status: "healthy" } } },
  });
  expect((await open(further)).status).toBe(200);
  const [pod] = await podsOf(name);
  expect(pod?.spec.containers[0]?.image).toContain(`${sample.spec.image.repository}:`);
  await expectWorkloads(name);
  const { backend } = (await read<Components>("eenv", name)).status.components;
  expect(backend.commit).toMatch(/^[0-9a-f]{40}$/);
  expect((await podsOf(name)).map(({ metadata }) => metadata.annotations?.[COMMIT])).toEqual([backend.commit]);

  await suspend(name, true);
  await waitUntil({
    what: `the end of the pods of '${name}'`,
    check: async () => (await podsOf(name)).length === 0,
    deadlineMs: 9e4,
    pollMs: 1e3,
  });
  await suspend(name, false);
  await waitUntil({
    what: `the answer of '${name}' after its sleep`,
    check: async () => (await open(url).catch(() => undefined))?.status === 200,
    deadlineMs: 12e4,
    pollMs: 1e3,
  });
  await untilReady(name);

  await register(values.replace("replicas.orZero(1)", "replicas.orZero(2)"));
  await waitFor(["--for=jsonpath={.status.readyReplicas}=2", "deployment/backend", `--namespace=env-${name}`]);
  expect((await open(url)).status).toBe(200);

  await kubectl("delete", "eenv", name, "--wait=false");
  await untilGone(name);
  expect(await madeFor(metadata.uid)).toEqual([]);
  expect((await open(further)).status).toBe(404);
});

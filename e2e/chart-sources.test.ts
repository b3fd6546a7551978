import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { type ChartHost, helm, startChartHost } from "./support/chart-host.ts";
import { chartUrl, commitFile, commitFolder, headOf, removeBranch } from "./support/chart-repository.ts";
import { Environments, find, untilGone, untilReady } from "./support/environments.ts";
import { giteaUrl } from "./support/gitea/gitea.ts";
import { makePrivateCharts, removePrivateCharts } from "./support/gitea/private-charts.ts";
import { apply, kubectl, read } from "./support/kubectl.ts";
import { open } from "./support/page.ts";
import { imageOf, podinfoChart, pushProgram, removeImage } from "./support/podinfo.ts";
import { names, TEST_DEADLINE_MS } from "./support/site.ts";
import { waitUntil } from "./support/wait.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
const umbrella = `e2e-umbrella-${environments.mark}`;
const beside = `e2e-beside-${environments.mark}`;
const guarded = `e2e-guarded-${environments.mark}`;
const KINDS = ["git", "helm", "oci"] as const;

/** The local cluster's settings bind it to Gitea and to this port, for this test alone. */
const CREDENTIAL = "e2e-charts";
const GUARDED_PORT = 9302;

let host: ChartHost;
let guardedHost: ChartHost | undefined;
let folder: string;
let repoUrl: string;
let sample: { spec: { cloneUrl: string; image: { repository: string } } };
/** The tag of an existing image: of another repository's commit. */
let tag: string;

beforeAll(async () => {
  host = await startChartHost();
  folder = await mkdtemp(join(tmpdir(), "e2e-sources-"));
  for (const name of ["near", "stable"]) await helm("create", join(folder, name));
  repoUrl = await chartUrl();
  sample = await read("erepo", "sample-backend", "--namespace=ephemeral-system");
  tag = await headOf("main", "sample-backend");
});
// Separate hooks: a failing one does not skip the others.
afterAll(() => environments.removeAll());
afterAll(() => {
  const registered = [umbrella, beside, ...KINDS.map((kind) => `${guarded}-${kind}`)];
  return kubectl("delete", "erepo", ...registered, "--namespace=ephemeral-system", "--ignore-not-found");
});
afterAll(() =>
  kubectl("delete", "secret", CREDENTIAL, `--namespace=${names.secretStoreNamespace}`, "--ignore-not-found"),
);
afterAll(() => removePrivateCharts(giteaUrl, guarded));
afterAll(() => guardedHost?.stop());
afterAll(() => removeBranch(umbrella));
afterAll(() => removeImage(umbrella));
afterAll(() => removeBranch(beside));
afterAll(() => host?.stop());
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Values of a chart of `helm create` with an answer at the environment's host. */
const app = (fullnameOverride: string, hasTraffic: boolean) => ({
  fullnameOverride,
  replicaCount: "${replicas.orZero(1)}",
  image: { repository: "${backend.image.repository}", tag: "${backend.image.tag}" },
  podAnnotations: { "ephemeral-environments.dev/commit": "${backend.commit}" },
  serviceAccount: { automount: false },
  podSecurityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  },
  service: { port: "${backend.port}" },
  ingress: {
    enabled: hasTraffic,
    className: "${ingress.className}",
    annotations: "${ingress.annotations}",
    hosts: [{ host: "${backend.host}", paths: [{ path: "/", pathType: "Prefix" }] }],
  },
});

/** A template that identifies the rendered chart. */
const mark = (text: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mark}\ndata: {text: "${text}"}\n`;

const untilMarked = (environment: string, text: string) =>
  waitUntil({
    what: `'${text}' in '${environment}'`,
    check: async () => {
      const place = `--namespace=env-${environment}`;
      const found = await read<{
        data: {
          text: string;
        };
      }>("configmap", "mark", place).catch(() => undefined);
      return found?.data.text === text;
    },
    deadlineMs: 9e4,
    pollMs: 1e3,
  });

async function register(name: string, spec: object): Promise<void> {
  const metadata = { name, namespace: "ephemeral-system" };
  const whole = { ...sample.spec, ...spec };
  await apply({ apiVersion: "ephemeral-environments.dev/v1", kind: "Repository", metadata, spec: whole });
}

async function create(name: string, backend: object): Promise<void> {
  const spec = { ttlHours: 1, backend };
  await apply({ apiVersion: "ephemeral-environments.dev/v1", kind: "EphemeralEnvironment", metadata: { name }, spec });
}

const admittedOf = async (name: string) =>
  (
    await read<{ spec: { sourceRepos: string[] } }>(
      "appproject",
      `env-${name}`,
      `--namespace=${names.deployerNamespace}`,
    )
  ).spec.sourceRepos;

const podinfo = {
  fullnameOverride: "podinfo",
  replicaCount: "${replicas.orZero(1)}",
  image: { repository: imageOf(umbrella), tag: "6.9.2" },
};

test("an umbrella of a folder beside it, a Helm repository and, from an OCI registry, podinfo runs from git, from either of them, and moves between them", async () => {
  await host.publish("helm", join(folder, "stable"), "1.2.3");
  await host.publish("oci", podinfoChart, "6.9.2");
  await pushProgram("podinfo", umbrella, "6.9.2");
  const source = join(folder, "umbrella");
  await mkdir(join(source, "templates"), { recursive: true });
  const dependencies = [
    { name: "near", version: "0.1.0", repository: "file://../near" },
    { name: "stable", version: "1.2.3", repository: host.helm },
    { name: "podinfo", version: "6.9.2", repository: host.oci },
  ];
  const about = { apiVersion: "v2", name: "umbrella", version: "1.0.0", dependencies };
  await writeFile(join(source, "Chart.yaml"), JSON.stringify(about));
  await writeFile(join(source, "templates/mark.yaml"), mark("{{ .Chart.Version }}"));
  // Unpackaged: Argo CD must build the dependencies of charts in git.
  await commitFolder(umbrella, "sources/near", join(folder, "near"));
  await commitFolder(umbrella, "sources/umbrella", source);
  await host.publish("helm", source, "2.0.0");
  await host.publish("oci", source, "3.0.0");

  const values = JSON.stringify({
    near: app("near", true),
    stable: app("stable", false),
    podinfo,
  });
  const name = environments.name("umbrella");
  await register(umbrella, { chart: { repoUrl, path: "sources/umbrella", revision: umbrella, values } });
  await create(name, { repository: umbrella, branch: "main" });
  const { status } = await untilReady(name);
  await untilMarked(name, "1.0.0");
  expect(await admittedOf(name)).toEqual([repoUrl]);
  for (const made of ["near", "stable", "podinfo"]) {
    const place = `--namespace=env-${name}`;
    const { status: has } = await read<{ status: { readyReplicas: number } }>("deployment", made, place);
    expect(has.readyReplicas).toBe(1);
  }

  await register(umbrella, { chart: { repoUrl: host.helm, chart: "umbrella", version: "2.0.0", values } });
  await untilMarked(name, "2.0.0");
  expect(await admittedOf(name)).toEqual([host.helm]);
  await register(umbrella, { chart: { repoUrl: host.oci, chart: "umbrella", version: "3.0.0", values } });
  await untilMarked(name, "3.0.0");
  expect(await admittedOf(name)).toEqual([`${host.oci}/umbrella`]);
  await untilReady(name);
  expect((await open(status?.urls?.backend ?? "")).status).toBe(200);
});

test("a chart beside the code is that of the commit, and moves with it", async () => {
  await commitFolder(beside, "chart", join(folder, "near"));
  await commitFile(beside, "chart/templates/mark.yaml", mark("one"));
  const one = await headOf(beside);
  await commitFile(beside, "chart/templates/mark.yaml", mark("two"));
  const two = await headOf(beside);
  const chart = { repoUrl, path: "chart", revision: "{commit}", values: JSON.stringify(app("backend", true)) };
  const image = { repository: sample.spec.image.repository, tagTemplate: tag };
  await register(beside, { cloneUrl: repoUrl, image, chart });
  const name = environments.name("beside");
  await create(name, { repository: beside, branch: beside, commit: one });
  await untilReady(name);
  await untilMarked(name, "one");
  await kubectl("patch", "eenv", name, "--type=merge", `--patch={"spec":{"backend":{"commit":"${two}"}}}`);
  await untilMarked(name, "two");
  await untilReady(name);
  expect((await open(`https://${name}--api.env.localhost:18443/`)).status).toBe(200);
});

/** Waits until Argo CD can't read the environment's chart, and the platform says what helps. */
const untilShut = (environment: string) =>
  waitUntil({
    what: `'${environment}' without a login at its chart's place`,
    check: async () => {
      const { conditions = [] } = (await find(environment)).status ?? {};
      const { message = "" } = conditions.find(({ type }) => type === "ApplicationSynced") ?? {};
      return message.includes("name a credential of it in chart.credentialsRef");
    },
    deadlineMs: 60_000,
    pollMs: 1_000,
  });

test("private places, of git, a Helm repository and a registry, are read with their credential, and not without", async () => {
  const files = {
    "Chart.yaml": JSON.stringify({ apiVersion: "v2", name: "guarded", version: "1.0.0" }),
    "templates/mark.yaml": mark("{{ .Values.from }}"),
  };
  const inGit = Object.fromEntries(Object.entries(files).map(([path, text]) => [`guarded/${path}`, text]));
  const { repoUrl: privateUrl, credential } = await makePrivateCharts(giteaUrl, guarded, inGit);
  guardedHost = await startChartHost({ login: credential, port: GUARDED_PORT });
  const source = join(folder, "guarded");
  await mkdir(join(source, "templates"), { recursive: true });
  for (const [path, text] of Object.entries(files)) await writeFile(join(source, path), text);
  await guardedHost.publish("helm", source, "1.0.0");
  await guardedHost.publish("oci", source, "1.0.0");
  const packaged = (repoUrl: string) => ({ repoUrl, chart: "guarded", version: "1.0.0" });
  const places = {
    git: { repoUrl: privateUrl, path: "guarded", revision: "main" },
    helm: packaged(guardedHost.helm),
    oci: packaged(guardedHost.oci),
  };
  const registerAll = (more: object) =>
    Promise.all(
      KINDS.map((kind) => {
        const chart = { ...places[kind], values: JSON.stringify({ from: kind }), ...more };
        return register(`${guarded}-${kind}`, { chart });
      }),
    );

  await registerAll({});
  const made = KINDS.map((kind) => ({ kind, name: environments.name(kind) }));
  await Promise.all(made.map(({ kind, name }) => create(name, { repository: `${guarded}-${kind}`, branch: "main" })));
  await Promise.all(made.map(({ name }) => untilShut(name)));

  const labels = { "ephemeral-environments.dev/shared": "true" };
  const metadata = { name: CREDENTIAL, namespace: names.secretStoreNamespace, labels };
  await apply({ apiVersion: "v1", kind: "Secret", metadata, stringData: { "1": credential } });
  await registerAll({ credentialsRef: { name: CREDENTIAL, key: "latest" } });
  await Promise.all(made.map(({ kind, name }) => untilMarked(name, kind)));
  const [, password = "", place = `--namespace=${names.deployerNamespace}`] = credential.split(":");
  const shown = await kubectl("get", "applications,appprojects", place, "--output=json");
  expect(shown).not.toContain(password);
  expect(await kubectl("get", "eenv,erepo", "--all-namespaces", "--output=json")).not.toContain(password);

  await kubectl("delete", "eenv", ...made.map(({ name }) => name), "--wait=false");
  await Promise.all(made.map(({ name }) => untilGone(name)));
});

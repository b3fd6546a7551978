import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { ask } from "../../support/api.ts";
import { run } from "../../support/command.ts";
import { create, Environments, find, madeFor, untilGone, untilReady } from "../../support/environments.ts";
import {
  deploy,
  installed,
  prepare,
  reachService,
  uninstall,
  values,
} from "../../support/installation/installation.ts";
import { namespace } from "../../support/installation/replicas.ts";
import { apply, kubectl, list, read, waitFor } from "../../support/kubectl.ts";
import { open } from "../../support/page.ts";
import { podSecret } from "../../support/secrets.ts";
import { checkout, names, site, TEST_DEADLINE_MS } from "../../support/site.ts";

jest.setTimeout(TEST_DEADLINE_MS);

/** Orphans are removed as soon as they are found; by default they are only reported for ten minutes. */
const soon = values({ settings: { sweep: { everySeconds: 1, graceSeconds: 1 } } });

const environments = new Environments();
const full = environments.name("full");
const small = environments.name("small");
const gone = environments.name("gone");
const configSet = `set-${environments.mark}`;
let folder: string;
let goneId: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "restore-"));
  await installed(values());
  await makeAll();
});
afterAll(async () => {
  await environments.removeAll();
  await kubectl("delete", "ecfg", configSet, `--namespace=${namespace}`, "--ignore-not-found");
  await rm(folder, { recursive: true });
});

/** One by the REST interface, one by kubectl with the second version of a config set, and a deleted one. */
async function makeAll(): Promise<void> {
  goneId = await create(gone);
  await create(full);
  const set = {
    apiVersion: "ephemeral-environments.dev/v1",
    kind: "ConfigSet",
    metadata: { name: configSet, namespace },
  };
  for (const value of ["1", "2"]) await apply({ ...set, spec: { env: [{ name: "EDITION", value }] } });
  await apply({
    apiVersion: "ephemeral-environments.dev/v1",
    kind: "EphemeralEnvironment",
    metadata: { name: small },
    spec: {
      ttlHours: 1,
      backend: { repository: "sample-backend", branch: "main" },
      configSet: { name: configSet, version: 2 },
      owner: { subject: "https://login.example.test#dev", email: "dev@example.test", name: "Dev" },
    },
  });
  for (const name of [full, small]) await untilReady(name);
  expect((await ask("DELETE", `/environments/${goneId}`)).status).toBe(200);
  await untilGone(gone);
}

async function documented(): Promise<readonly string[]> {
  const text = await readFile(join(checkout, "docs/install.md"), "utf8");
  const [, chapter = ""] = text.split("\n### Back up and restore\n");
  const [section = ""] = chapter.split("\n### ");
  return [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, command = ""]) => command);
}

async function follow(which: 0 | 1): Promise<void> {
  const script = `kubectl() { ${site.kubectl} "$@"; }\n${(await documented())[which]}`;
  const how = { cwd: folder, env: { KUBECONFIG: site.kubeconfig }, deadlineMs: 60_000 };
  const { code, stdout, stderr } = await run("bash", { args: ["-e", "-o", "pipefail", "-c", script], ...how });
  if (code !== 0) throw new Error(`${script}\nended with ${code}: ${stdout}${stderr}`);
}

interface Kept {
  readonly id: string;
  readonly namespaceUid: string;
  readonly secret: Readonly<Record<string, string>>;
  readonly spec: object;
}

/** Facts that change with a restore, and facts that stay. */
async function known(name: string): Promise<Kept> {
  const { metadata, spec } = await find(name);
  const { metadata: place } = await read("namespace", `env-${name}`);
  const { version: _, ...set } = (spec as { configSet?: { version?: number } }).configSet ?? {};
  return {
    id: metadata.uid,
    namespaceUid: place.uid,
    secret: await podSecret(name),
    spec: { ...spec, configSet: set },
  };
}

async function expectRestored(name: string, former: Kept): Promise<void> {
  const { status } = await untilReady(name);
  expect((await open(status?.urls?.backend ?? "")).status).toBe(200);
  const restored = await known(name);
  expect(restored.spec).toEqual(former.spec);
  expect(restored.id).not.toBe(former.id);
  expect(restored.namespaceUid).not.toBe(former.namespaceUid);
  expect(Object.keys(restored.secret)).toEqual(Object.keys(former.secret));
  const values = Object.values(restored.secret);
  expect(values.filter((value) => Object.values(former.secret).includes(value))).toEqual([]);
  expect(await madeFor(former.id)).toEqual([]);
  expect((await ask("GET", `/environments/${former.id}`)).status).toBe(404);
}

const recorded = async () =>
  (await list<{ spec: { uid: string } }>("erec", `--namespace=${namespace}`)).map(({ spec }) => spec.uid);

test("a backup restores everything into an empty cluster, as new environments", async () => {
  const former = new Map<string, Kept>();
  for (const name of [full, small]) former.set(name, await known(name));
  await follow(0);
  const backup = await readFile(join(folder, "backup.json"), "utf8");
  const secrets = [...former.values()].flatMap(({ secret }) => Object.values(secret));
  expect(secrets.filter((value) => backup.includes(value))).toEqual([]);

  await emptyCluster();
  // The sample's Repositories come from the backup.
  await prepare();
  await deploy("install", values());
  await reachService();
  await follow(1);
  for (const [name, one] of former) await expectRestored(name, one);
  expect(await recorded()).toContain(goneId);
  expect(await list("eenv", `--field-selector=metadata.name=${gone}`)).toEqual([]);
});

async function emptyCluster(): Promise<void> {
  await kubectl("delete", "eenv", "--all", "--timeout=90s");
  await kubectl("delete", "erepo,ecfg,erec", "--all", "--all-namespaces", "--timeout=60s");
  await uninstall();
  await kubectl("delete", "crd", "--selector=app.kubernetes.io/instance=platform", "--timeout=60s");
  await kubectl("delete", "namespace", namespace, names.secretStoreNamespace, "--timeout=60s");
  expect(await list("namespaces,clusterroles", `--selector=${names.uidLabel}`)).toEqual([]);
}

test("after a loss of the environments' resources alone, what is left of the former environments is not adopted but removed, and the restored ones take its place", async () => {
  const former = new Map<string, Kept>();
  for (const name of [full, small]) former.set(name, await known(name));
  await follow(0);
  await uninstall("--no-hooks");
  for (const name of former.keys()) {
    await kubectl("patch", "eenv", name, "--type=merge", '--patch={"metadata":{"finalizers":null}}');
    await kubectl("delete", "eenv", name, "--timeout=30s");
  }

  await installed(values());
  await follow(1).catch(expectOnlyKnown);
  for (const [name, { namespaceUid }] of former) {
    await waitFor(['--for=jsonpath={.status.conditions[?(@.type=="Ready")].reason}=NameTaken', `eenv/${name}`]);
    const { metadata } = await read("namespace", `env-${name}`);
    expect(metadata).toMatchObject({ uid: namespaceUid });
  }
  await deploy("upgrade", soon);
  for (const [name, one] of former) await expectRestored(name, one);
});

/** Existing objects, such as the Repositories, stay unchanged. */
function expectOnlyKnown(error: Error): void {
  const refusals = error.message.split("\n").filter((line) => line.startsWith("Error from server"));
  expect(refusals.filter((line) => !line.includes("(AlreadyExists)"))).toEqual([]);
}

import { afterAll, expect, jest, test } from "@jest/globals";
import { ask } from "./support/api.ts";
import { counter, databaseIs, inNamespace, objectsIn, patchSpec, visits } from "./support/database.ts";
import { type Created, creation, Environments, find, madeFor, untilGone, untilReady } from "./support/environments.ts";
import { apply, kubectl, list, read, waitFor } from "./support/kubectl.ts";
import { podSecret, storedSecrets } from "./support/secrets.ts";
import { TEST_DEADLINE_MS } from "./support/site.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
const configSet = `e2e-database-${environments.mark}`;
afterAll(async () => {
  await environments.removeAll();
  await kubectl("delete", "ecfg", configSet, "--namespace=ephemeral-system", "--ignore-not-found");
});

async function create(name: string, more: object): Promise<string> {
  const { frontend_repo: _, frontend_branch: __, ...backendOnly } = creation(name);
  const { status, body } = await ask<Created>("POST", "/environments", { body: { ...backendOnly, ...more } });
  expect(status).toBe(200);
  return body.environment.id;
}

const parts = (name: string) => objectsIn(name, "statefulsets,persistentvolumeclaims");

async function volumeOf(name: string): Promise<string> {
  const { spec } = await read<{ spec: { volumeName: string } }>("pvc", "database", inNamespace(name));
  return spec.volumeName;
}

test.concurrent("a database keeps what a backend wrote, over a lost pod, a new password and sleep, and goes with its environment", async () => {
  const name = environments.name("data");
  const id = await create(name, { provision_database: true });
  await untilReady(name);
  await databaseIs(name, "Ready");
  const shown = await ask<{ configuration: object }>("GET", `/environments/${id}`);
  expect(shown.body.configuration).toMatchObject({ database_provisioned: true });
  expect(await kubectl("exec", inNamespace(name), "database-0", "--", "postgres", "--version")).toMatch(/PostgreSQL/);
  expect(await visits(name)).toBe(1);

  await kubectl("delete", "pod", "database-0", inNamespace(name), "--wait=true", "--timeout=100s");
  expect(await visits(name)).toBe(2);

  const before = await podSecret(name);
  await patchSpec(name, { secrets: { rotate: { DATABASE_PASSWORD: "2" } } });
  await untilReady(name);
  const after = await podSecret(name);
  expect(after.DATABASE_PASSWORD).not.toBe(before.DATABASE_PASSWORD);
  expect(after.DATABASE_URL).not.toBe(before.DATABASE_URL);
  expect(await visits(name)).toBe(3);

  await ask("PATCH", `/v2/environments/${id}`, { body: { suspended: true } });
  await databaseIs(name, "Suspended");
  await waitFor(["--for=delete", "pod/database-0", inNamespace(name)]);
  expect(await parts(name)).toEqual(["PersistentVolumeClaim database", "StatefulSet database"]);
  await ask("PATCH", `/v2/environments/${id}`, { body: { suspended: false } });
  await databaseIs(name, "Ready");
  expect(await visits(name)).toBe(4);

  const volume = await volumeOf(name);
  expect((await ask("DELETE", `/environments/${id}`)).status).toBe(200);
  await untilGone(name);
  expect(await madeFor(id)).toEqual([]);
  expect(await list("persistentvolumeclaims", inNamespace(name))).toEqual([]);
  await waitFor(["--for=delete", `pv/${volume}`]);
});

/** Characters that are special to a shell, to SQL or in a URL. */
const PASSWORD = `it's "$HOME" $(id) \\ %40 :/?#@& ü`;

test.concurrent("an environment gets a database when its flag is set, and loses it with the flag, while the password stays", async () => {
  const name = environments.name("flag");
  const overrides = { helm_values: { backend: { env: { DATABASE_PASSWORD: PASSWORD } } } };
  const id = await create(name, { config_overrides: overrides });
  await untilReady(name);
  expect((await counter(name)).status).toBe(404);
  expect(await parts(name)).toEqual([]);
  const before = await podSecret(name);

  await patchSpec(name, { database: { provision: true } });
  await databaseIs(name, "Ready");
  expect(await visits(name)).toBe(1);
  const { DATABASE_URL: url, ...others } = await podSecret(name);
  expect(others).toEqual(before);
  expect(url).toBe(`postgresql://app:${encodeURIComponent(PASSWORD)}@database:5432/app`);
  const volume = await volumeOf(name);

  await patchSpec(name, { database: { provision: false } });
  await databaseIs(name, "NotRequested");
  await waitFor(["--for=delete", "statefulset/database", "pvc/database", inNamespace(name)]);
  await waitFor(["--for=delete", `pv/${volume}`]);
  await untilReady(name);
  expect(await podSecret(name)).toEqual(before);
  const [[, stored] = []] = await storedSecrets(id);
  expect(Object.values(stored ?? {})).toContain(PASSWORD);
});

test.concurrent("a database that can't start says why, and starts when its config set is corrected", async () => {
  const apiVersion = "ephemeral-environments.dev/v1";
  const configured = (version: string) =>
    apply({
      apiVersion,
      kind: "ConfigSet",
      metadata: { name: configSet, namespace: "ephemeral-system" },
      spec: { database: { enabled: true, version } },
    });
  const name = environments.name("pull");
  await configured("99");
  const backend = { repository: "sample-backend", branch: "main" };
  const spec = { ttlHours: 1, backend, configSet: { name: configSet } };
  await apply({ apiVersion, kind: "EphemeralEnvironment", metadata: { name }, spec });

  await waitFor(["--for=condition=DatabaseReady=False", `eenv/${name}`], 150);
  await waitFor(["--for=jsonpath={.status.phase}=failed", `eenv/${name}`]);
  const { status, metadata } = await find(name);
  const ofDatabase = status?.conditions?.find(({ type }) => type === "DatabaseReady");
  expect(ofDatabase).toMatchObject({ status: "False", reason: "ImagePullFailed" });
  expect(ofDatabase?.message).toMatch(/^database: image 'docker\.io\/local\/postgres:99' can't be pulled.*config set/);
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  expect(ready).toMatchObject({ reason: "ImagePullFailed", message: ofDatabase?.message });

  await configured("15");
  await patchSpec(name, { configSet: { version: 2 } });
  await untilReady(name);
  expect(await visits(name)).toBe(1);
  await kubectl("delete", "eenv", name, "--wait=false");
  await untilGone(name);
  expect(await madeFor(metadata.uid)).toEqual([]);
});

import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { ask } from "../../support/api.ts";
import {
  create,
  Environments,
  find,
  madeFor,
  objectsNamed,
  untilGone,
  untilReady,
} from "../../support/environments.ts";
import {
  deploy,
  installed,
  reachService,
  refusedRemoval,
  uninstall,
  values,
} from "../../support/installation/installation.ts";
import { namespace, replicas } from "../../support/installation/replicas.ts";
import { apply, kubectl, list, waitFor } from "../../support/kubectl.ts";
import { storedSecrets } from "../../support/secrets.ts";
import { TEST_DEADLINE_MS } from "../../support/site.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();

beforeAll(() => installed(values()));
afterAll(() => environments.removeAll());

async function blocker(name: string): Promise<() => Promise<void>> {
  const place = `--namespace=env-${name}`;
  const metadata = { name: "blocker", namespace: `env-${name}`, finalizers: ["example.test/blocker"] };
  await apply({ apiVersion: "v1", kind: "ConfigMap", metadata });
  return async () => {
    await kubectl("patch", "configmap", "blocker", place, "--type=merge", '--patch={"metadata":{"finalizers":null}}');
  };
}

/** Jobs that a hook of the release has left. */
async function jobs(): Promise<string[]> {
  const all = await list<{ metadata: { name: string } }>("jobs", `--namespace=${namespace}`);
  return all.map(({ metadata }) => metadata.name).filter((name) => name.startsWith("platform-removal-"));
}

test("environments that terminate when the platform is uninstalled are finished by the next installation, and nothing is orphaned", async () => {
  const name = environments.name("leaving");
  const id = await create(name);
  await untilReady(name);
  const unblock = await blocker(name);
  expect((await ask("DELETE", `/environments/${id}`)).status).toBe(200);
  await waitFor(["--for=jsonpath={.status.phase}=Terminating", `namespace/env-${name}`]);

  expect(await refusedRemoval()).toContain(`${name}: delete them first`);
  // A second refusal: leftovers of the first one are harmless.
  expect(await refusedRemoval()).toContain(`${name}: delete them first`);
  expect((await replicas()).length).toBe(2);
  expect((await ask("GET", `/environments/${id}`)).body).toMatchObject({ status: "terminating" });

  await uninstall("--no-hooks");
  await unblock();
  await waitFor(["--for=delete", `namespace/env-${name}`]);
  // Without a platform the deletion stays unfinished.
  expect((await find(name)).metadata).toMatchObject({ uid: id, deletionTimestamp: expect.any(String) });

  await deploy("install", values());
  await reachService();
  await untilGone(name);
  expect(await madeFor(id)).toEqual([]);
  expect(await objectsNamed(name)).toEqual([]);
  expect(await storedSecrets(id)).toEqual([]);
  const records = await list<{ spec: { uid: string } }>("erec", `--namespace=${namespace}`);
  expect(records.map(({ spec }) => spec.uid)).toContain(id);
});

test("without environments, helm uninstall is not refused and leaves no Job behind", async () => {
  expect(await list("eenv")).toEqual([]);
  await uninstall();
  expect(await jobs()).toEqual([]);
  expect(await list("pods", `--namespace=${namespace}`, "--field-selector=status.phase=Running")).toEqual([]);
});

import { afterAll, expect, jest, test } from "@jest/globals";
import {
  createSeeded,
  databaseIs,
  FIRST_VISITOR,
  inNamespace,
  objectsIn,
  patchSpec,
  seedOf,
  visits,
} from "./support/database.ts";
import { Environments, untilReady } from "./support/environments.ts";
import { kubectl, list, read, waitFor } from "./support/kubectl.ts";
import { platform } from "./support/platform.ts";
import { TEST_DEADLINE_MS } from "./support/site.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
afterAll(() => environments.removeAll());

const reset = (id: string) =>
  platform.call("POST /api/v2/environments/{environment_id}/database/reset", { path: { environment_id: id } });

const generationOf = async (name: string) => {
  const { spec } = await read<{ spec: { database: { generation?: number } } }>("eenv", name);
  return spec.database.generation;
};

const claims = (name: string) => objectsIn(name, "persistentvolumeclaims");

async function backendPods(name: string): Promise<readonly string[]> {
  const pods = await list("pods", "--selector=app.kubernetes.io/name=backend", inNamespace(name));
  return pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ metadata }) => metadata.uid);
}

test.concurrent("a reset loads the seed into a new database, while the former one serves, and then deletes that", async () => {
  const name = environments.name("reset");
  const id = await createSeeded(name, seedOf("shop.sql"));
  await untilReady(name);
  expect(await visits(name)).toBe(FIRST_VISITOR);
  const former = await backendPods(name);

  await patchSpec(name, { database: { seed: seedOf("slow.sql") } });
  await reset(id);
  await databaseIs(name, "Seeding");
  expect(await visits(name)).toBe(FIRST_VISITOR + 1);
  await reset(id);
  expect(await generationOf(name)).toBe(2);

  await databaseIs(name, "Ready");
  await untilReady(name);
  expect(await visits(name)).toBe(FIRST_VISITOR);
  await waitFor(["--for=delete", "pvc/database", inNamespace(name)]);
  expect(await claims(name)).toEqual(["PersistentVolumeClaim database-2"]);
  expect(await objectsIn(name, "jobs")).toEqual([]);
  const now = await backendPods(name);
  expect(now.filter((uid) => former.includes(uid))).toEqual([]);
  await kubectl("delete", "pod", "database-0", inNamespace(name), "--wait=true", "--timeout=100s");
  expect(await visits(name)).toBe(FIRST_VISITOR + 1);
});

test.concurrent("a reset with a broken seed leaves the former database serving, and there is a way back to it", async () => {
  const name = environments.name("reset-broken");
  const id = await createSeeded(name, seedOf("shop.sql"));
  await untilReady(name);
  expect(await visits(name)).toBe(FIRST_VISITOR);

  await patchSpec(name, { database: { seed: seedOf("broken.sql") } });
  await reset(id);
  await databaseIs(name, "SeedFailed");
  expect(await visits(name)).toBe(FIRST_VISITOR + 1);

  await patchSpec(name, { database: { generation: 1 } });
  await databaseIs(name, "Ready");
  await untilReady(name);
  expect(await visits(name)).toBe(FIRST_VISITOR + 2);
  await waitFor(["--for=delete", "pvc/database-2", inNamespace(name)]);
  expect(await claims(name)).toEqual(["PersistentVolumeClaim database"]);

  await patchSpec(name, { database: { seed: null } });
  await reset(id);
  await waitFor([`--for=jsonpath={.status.database.generation}=2`, `eenv/${name}`]);
  await untilReady(name);
  expect(await visits(name)).toBe(1);
});

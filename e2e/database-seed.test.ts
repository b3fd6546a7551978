import { afterAll, expect, jest, test } from "@jest/globals";
import {
  createSeeded,
  databaseCondition,
  databaseIs,
  FIRST_VISITOR,
  inNamespace,
  objectsIn,
  patchSpec,
  seedInGit,
  seedOf,
  visits,
} from "./support/database.ts";
import { Environments, untilReady } from "./support/environments.ts";
import { kubectl, list, waitFor } from "./support/kubectl.ts";
import { platform } from "./support/platform.ts";
import { TEST_DEADLINE_MS } from "./support/site.ts";
import { waitUntil } from "./support/wait.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
afterAll(() => environments.removeAll());

const shown = (id: string) =>
  platform.call("GET /api/v2/environments/{environment_id}", { path: { environment_id: id } });

const seedPods = ["pods", "--selector=app.kubernetes.io/name=database-seed"] as const;

test.concurrent("a database begins with its seed, which is there at the first answer, and is loaded once", async () => {
  const name = environments.name("seed");
  const id = await createSeeded(name, seedOf("shop.sql"));
  await untilReady(name);
  expect(await visits(name)).toBe(FIRST_VISITOR);
  expect(await shown(id)).toMatchObject({
    database_seed: seedOf("shop.sql"),
    configuration: { database_provisioned: true },
  });
  expect(await objectsIn(name, "jobs")).toEqual([]);

  await patchSpec(name, { database: { seed: seedOf("broken.sql") } });
  await untilReady(name);
  await kubectl("delete", "pod", "database-0", inNamespace(name), "--wait=true", "--timeout=100s");
  expect(await visits(name)).toBe(FIRST_VISITOR + 1);
  expect(await shown(id)).toMatchObject({ database_seed: seedOf("shop.sql") });

  await patchSpec(name, { database: { provision: false, seed: null } });
  await databaseIs(name, "NotRequested");
  await waitFor(["--for=delete", "statefulset/database", "pvc/database", inNamespace(name)]);
  await patchSpec(name, { database: { provision: true, seed: seedOf("shop.dump") } });
  await databaseIs(name, "Ready");
  await untilReady(name);
  expect(await visits(name)).toBe(FIRST_VISITOR);
});

test.concurrent("a seed in the backend's repository is read at the environment's commit, and nothing starts without it", async () => {
  const name = environments.name("git");
  const id = await createSeeded(name, seedInGit("absent.sql"));
  await databaseIs(name, "SeedNotFound");
  expect((await databaseCondition(name))?.message).toContain("has no file 'seed/absent.sql'");
  expect(await objectsIn(name, "deployments,statefulsets,jobs")).toEqual([]);

  await patchSpec(name, { database: { seed: seedInGit("broken.sql") } });
  await databaseIs(name, "SeedFailed");
  expect((await databaseCondition(name))?.message).toContain('relation "customers" does not exist');

  await patchSpec(name, { database: { seed: seedInGit("shop.sql") } });
  await untilReady(name);
  expect(await visits(name)).toBe(FIRST_VISITOR);
  const { repositories, database_seed } = await shown(id);
  expect(database_seed).toEqual({ ...seedInGit("shop.sql"), commit: repositories.backend.commit });
  const secrets = async () => (await objectsIn(name, "secrets")).filter((title) => title.includes("database-seed"));
  await waitUntil({
    what: "the end of its Secret",
    check: async () => (await secrets()).length === 0,
    deadlineMs: 60_000,
  });
});

test.concurrent("a load that is killed in the middle begins anew, and nothing starts before it is complete", async () => {
  const name = environments.name("killed");
  await createSeeded(name, seedOf("slow.sql"));
  await databaseIs(name, "Seeding");
  expect((await databaseCondition(name))?.message).toContain("loading the seed /seed/slow.sql");
  await waitUntil({
    what: "the load",
    check: async () => {
      const [pod] = await list(...seedPods, inNamespace(name));
      if (pod === undefined) return false;
      const log = await kubectl("logs", pod.metadata.name, inNamespace(name)).catch(() => "");
      return log.includes("loading");
    },
    deadlineMs: 90_000,
  });
  expect(await objectsIn(name, "deployments,statefulsets")).toEqual([]);
  const [killed] = await list(...seedPods, inNamespace(name));
  await kubectl("delete", "pod", killed?.metadata.name ?? "", inNamespace(name), "--grace-period=0", "--force");
  await waitFor([`--for=jsonpath={.status.phase}=ready`, `eenv/${name}`], 150);
  expect(await visits(name)).toBe(FIRST_VISITOR);
});

test.concurrent("a broken seed fails with its last lines, starts nothing, and makes way for a correct one", async () => {
  const name = environments.name("broken");
  await createSeeded(name, seedOf("broken.sql"));
  await databaseIs(name, "SeedFailed");
  const condition = await databaseCondition(name);
  expect(condition).toMatchObject({ status: "False" });
  expect(condition?.message).toContain('relation "customers" does not exist');
  await waitFor(["--for=jsonpath={.status.phase}=failed", `eenv/${name}`]);
  expect(await objectsIn(name, "deployments,statefulsets")).toEqual([]);

  await patchSpec(name, { database: { seed: seedOf("shop.sql") } });
  await untilReady(name);
  expect(await visits(name)).toBe(FIRST_VISITOR);
});

import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, jest, test } from "@jest/globals";
import { creation, Environments, find, untilReady } from "./support/environments.ts";
import { kubectl, list, waitFor } from "./support/kubectl.ts";
import { open } from "./support/page.ts";
import { platform } from "./support/platform.ts";
import { TEST_DEADLINE_MS } from "./support/site.ts";
import { waitUntil } from "./support/wait.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
afterAll(() => environments.removeAll());

/** The seeds of the local cluster; each has 41 visits. */
const seedOf = (file: string) => ({
  image: "docker.io/local/seed:1",
  path: `/seed/${file}`,
  format: file.endsWith(".dump") ? ("dump" as const) : ("sql" as const),
});
const FIRST_VISITOR = 42;

const inNamespace = (name: string) => `--namespace=env-${name}`;
const patch = (name: string, spec: object) =>
  kubectl("patch", "eenv", name, "--type=merge", `--patch=${JSON.stringify({ spec })}`);
const databaseIs = (name: string, reason: string, seconds = 90) =>
  waitFor(
    [`--for=jsonpath={.status.conditions[?(@.type=="DatabaseReady")].reason}=${reason}`, `eenv/${name}`],
    seconds,
  );

async function create(name: string, file: string): Promise<string> {
  const { frontend_repo: _, frontend_branch: __, ...backendOnly } = creation(name);
  const body = { ...backendOnly, provision_database: true, database_seed: seedOf(file) };
  return (await platform.call("POST /api/v2/environments", { body })).environment.id;
}

const shown = (id: string) =>
  platform.call("GET /api/v2/environments/{environment_id}", { path: { environment_id: id } });

/** The first answer of the backend about its database: a count of visits, this one among them. */
async function firstVisit(name: string): Promise<number> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const { status, body } = await open(`https://${name}--api.env.localhost:18443/database`);
    if (status === 200) return (JSON.parse(body) as { visits: number }).visits;
    if (Date.now() > deadline) throw new Error(`'${name}' has not reached its database: ${status} ${body}`);
    await pause(200);
  }
}

const objectsIn = async (name: string, kinds: string) =>
  (await list(kinds, inNamespace(name))).map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();

async function databaseCondition(name: string) {
  const { status } = await find(name);
  return status?.conditions?.find(({ type }) => type === "DatabaseReady");
}

const seedPods = ["pods", "--selector=app.kubernetes.io/name=database-seed"] as const;

test.concurrent("a database begins with its seed, which is there at the first answer, and is loaded once", async () => {
  const name = environments.name("seed");
  const id = await create(name, "shop.sql");
  await untilReady(name);
  expect(await firstVisit(name)).toBe(FIRST_VISITOR);
  expect(await shown(id)).toMatchObject({
    database_seed: seedOf("shop.sql"),
    configuration: { database_provisioned: true },
  });
  expect(await objectsIn(name, "jobs")).toEqual([]);

  await patch(name, { database: { seed: seedOf("broken.sql") } });
  await untilReady(name);
  await kubectl("delete", "pod", "database-0", inNamespace(name), "--wait=true", "--timeout=100s");
  expect(await firstVisit(name)).toBe(FIRST_VISITOR + 1);
  expect(await shown(id)).toMatchObject({ database_seed: seedOf("shop.sql") });

  await patch(name, { database: { provision: false, seed: null } });
  await databaseIs(name, "NotRequested");
  await waitFor(["--for=delete", "statefulset/database", "pvc/database", inNamespace(name)]);
  await patch(name, { database: { provision: true, seed: seedOf("shop.dump") } });
  await databaseIs(name, "Ready");
  await untilReady(name);
  expect(await firstVisit(name)).toBe(FIRST_VISITOR);
});

test.concurrent("a load that is killed in the middle begins anew, and nothing starts before it is complete", async () => {
  const name = environments.name("killed");
  await create(name, "slow.sql");
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
  expect(await firstVisit(name)).toBe(FIRST_VISITOR);
});

test.concurrent("a broken seed fails with its last lines, starts nothing, and makes way for a correct one", async () => {
  const name = environments.name("broken");
  await create(name, "broken.sql");
  await databaseIs(name, "SeedFailed");
  const condition = await databaseCondition(name);
  expect(condition).toMatchObject({ status: "False" });
  expect(condition?.message).toContain('relation "customers" does not exist');
  await waitFor(["--for=jsonpath={.status.phase}=failed", `eenv/${name}`]);
  expect(await objectsIn(name, "deployments,statefulsets")).toEqual([]);

  await patch(name, { database: { seed: seedOf("shop.sql") } });
  await untilReady(name);
  expect(await firstVisit(name)).toBe(FIRST_VISITOR);
});

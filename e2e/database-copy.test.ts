import { isDeepStrictEqual } from "node:util";
import { afterAll, expect, jest, test } from "@jest/globals";
import {
  createSeeded,
  databaseCondition,
  databaseIs,
  FIRST_VISITOR,
  inNamespace,
  objectsIn,
  patchSpec,
  seedOf,
  visits,
} from "./support/database.ts";
import { creation, Environments, untilReady } from "./support/environments.ts";
import { apply, kubectl, list, waitFor } from "./support/kubectl.ts";
import { platform } from "./support/platform.ts";
import { TEST_DEADLINE_MS } from "./support/site.ts";
import { waitUntil } from "./support/wait.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
const configSets: string[] = [];
const PLATFORM_NAMESPACE = "ephemeral-system";
const ofPlatform = `--namespace=${PLATFORM_NAMESPACE}`;

afterAll(async () => {
  await environments.removeAll();
  if (configSets.length > 0) await kubectl("delete", "configset", ...configSets, ofPlatform, "--ignore-not-found");
});

/** Stores a config set with statements for copies. */
async function masked(purpose: string, mask: readonly string[]): Promise<string> {
  const name = `${purpose}-${environments.mark}`;
  configSets.push(name);
  const spec = { database: { mask } };
  const metadata = { name, namespace: PLATFORM_NAMESPACE };
  await apply({ apiVersion: "ephemeral-environments.dev/v1", kind: "ConfigSet", metadata, spec });
  return name;
}

/** Creates an environment with a copy of that one's database, and answers its id. */
async function createCopy(name: string, source: string, config_set?: string): Promise<string> {
  const { frontend_repo: _, frontend_branch: __, ...backendOnly } = creation(name);
  const body = { ...backendOnly, provision_database: true, database_from: source, ...(config_set && { config_set }) };
  return (await platform.call("POST /api/v2/environments", { body })).environment.id;
}

async function readySource(purpose: string): Promise<string> {
  const name = environments.name(purpose);
  await createSeeded(name, seedOf("shop.sql"));
  await untilReady(name);
  return name;
}

/** The objects that a copy needs while it is made: its login, and the ways between both databases. */
async function exceptions(copy: string, source: string): Promise<readonly string[]> {
  const kinds = "secrets,networkpolicies";
  const all = [...(await objectsIn(copy, kinds)), ...(await objectsIn(source, kinds))];
  return all.filter((object) => /database-cop(y|ies)$/.test(object));
}

const ALL_EXCEPTIONS = ["NetworkPolicy database-copy", "Secret database-copy", "NetworkPolicy database-copies"];

const JOB_PODS = "--selector=app.kubernetes.io/name=database-seed";

async function jobLog(name: string): Promise<string> {
  const [pod] = await list("pods", JOB_PODS, inNamespace(name));
  return pod === undefined ? "" : kubectl("logs", pod.metadata.name, inNamespace(name)).catch(() => "");
}

test.concurrent("a copy has the source's data, which serves on, and nothing is left of the way between them", async () => {
  const source = await readySource("origin");
  expect(await visits(source)).toBe(FIRST_VISITOR);
  const name = environments.name("copy");
  const id = await createCopy(name, source);
  await untilReady(name);
  expect(await visits(name)).toBe(FIRST_VISITOR + 1);
  expect(await visits(source)).toBe(FIRST_VISITOR + 1);
  const shown = await platform.call("GET /api/v2/environments/{environment_id}", { path: { environment_id: id } });
  expect(shown).toMatchObject({ database_from: source, database_seed: null });
  await waitUntil({
    what: "the end of the exceptions for the copy",
    check: async () => (await exceptions(name, source)).length === 0,
    deadlineMs: 60_000,
  });
  expect(await objectsIn(name, "jobs")).toEqual([]);

  // Made anew, it has the data of now; and the source may go.
  await platform.call("POST /api/v2/environments/{environment_id}/database/reset", { path: { environment_id: id } });
  await waitFor(["--for=jsonpath={.status.database.generation}=2", `eenv/${name}`], 120);
  await untilReady(name);
  expect(await visits(name)).toBe(FIRST_VISITOR + 2);
  await kubectl("delete", "eenv", source, "--wait=false");
  await kubectl("delete", "pod", "database-0", inNamespace(name), "--wait=true", "--timeout=100s");
  expect(await visits(name)).toBe(FIRST_VISITOR + 3);
});

test.concurrent("a copy is masked before anything starts, also after a kill, and waits for a suspended source", async () => {
  const source = await readySource("private");
  await patchSpec(source, { suspended: true });
  await databaseIs(source, "Suspended");
  const name = environments.name("masked");
  await createCopy(name, source, await masked("mask", ["SELECT pg_sleep(8)", "DELETE FROM visits"]));
  await databaseIs(name, "WaitingForCopySource");
  expect((await databaseCondition(name))?.message).toContain("once that environment is resumed");
  expect(await objectsIn(name, "deployments,statefulsets,jobs")).toEqual([]);

  await patchSpec(source, { suspended: false });
  await databaseIs(name, "Copying");
  await waitUntil({
    what: "the exceptions for the copy",
    check: async () => isDeepStrictEqual(await exceptions(name, source), ALL_EXCEPTIONS),
    deadlineMs: 60_000,
  });
  const masking = async () => (await jobLog(name)).includes("masking");
  await waitUntil({ what: "the statements of the mask", check: masking, deadlineMs: 90_000 });
  expect(await objectsIn(name, "deployments,statefulsets")).toEqual([]);
  await kubectl("delete", "pod", JOB_PODS, inNamespace(name), "--grace-period=0", "--force");
  await waitFor(["--for=jsonpath={.status.phase}=ready", `eenv/${name}`], 150);
  expect(await visits(name)).toBe(1);
});

test.concurrent("a mask that fails leaves no data, shows none, and makes way for a correct one", async () => {
  const source = await readySource("kept");
  const name = environments.name("unmasked");
  const configSet = await masked("broken", ["SELECT (at::text || ' of a person')::integer FROM visits"]);
  await createCopy(name, source, configSet);
  await databaseIs(name, "CopyFailed");
  const { message } = (await databaseCondition(name)) ?? {};
  expect(message).toContain("22P02");
  expect(message).toContain("SELECT (at::text");
  // The row of the error.
  expect(message).not.toContain("+00 of a person");
  expect(await objectsIn(name, "deployments,statefulsets")).toEqual([]);

  await masked("broken", ["DELETE FROM visits"]);
  await waitFor(["--for=jsonpath={.metadata.generation}=2", `configset/${configSet}`, ofPlatform]);
  await patchSpec(name, { configSet: { name: configSet, version: 2 } });
  await untilReady(name);
  expect(await visits(name)).toBe(1);
});

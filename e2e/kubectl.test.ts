import { afterAll, expect, jest, test } from "@jest/globals";
import { ask } from "./support/api.ts";
import { Environments, find, madeFor, objectsNamed, untilGone, untilReady } from "./support/environments.ts";
import { apply, kubectl, refusalOf, waitFor } from "./support/kubectl.ts";
import { open } from "./support/page.ts";
import { TEST_DEADLINE_MS, tokens } from "./support/site.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
afterAll(() => environments.removeAll());

const spec = { ttlHours: 1, backend: { repository: "sample-backend", branch: "main" } };
const manifest = (name: string, changed: object = {}) => ({
  apiVersion: "ephemeral-environments.dev/v1",
  kind: "EphemeralEnvironment",
  metadata: { name },
  spec: { ...spec, ...changed },
});

test("a manifest becomes an environment: applied again it changes nothing, changed it extends, deleted it removes all", async () => {
  const name = environments.name("manifest");
  expect(await apply(manifest(name))).toContain("created");
  const ready = await untilReady(name);
  expect(ready.status?.urls).toEqual({ backend: `https://${name}--api.env.localhost:18443` });
  expect((await open(ready.status?.url ?? "")).status).toBe(200);
  await expectColumns(name, ready.status?.expiresAt ?? "");

  expect(await apply(manifest(name))).toContain("unchanged");
  const { metadata } = await find(name);
  expect({ uid: metadata.uid, generation: metadata.generation }).toEqual({ uid: ready.metadata.uid, generation: 1 });

  await apply(manifest(name, { ttlHours: 2 }));
  await waitFor(["--for=jsonpath={.status.ttlHours}=2", `eenv/${name}`], 30);
  const later = Date.parse((await find(name)).status?.expiresAt ?? "") - Date.parse(ready.status?.expiresAt ?? "");
  expect(later).toBe(3_600_000);

  await expectUnchangeable(name);
  const shown = await ask("GET", `/environments/${name}`, { token: tokens.administrator });
  expect(shown.body).toMatchObject({ name, status: "ready", creator: { email: "", name: "manifest" } });

  await kubectl("delete", "eenv", name, "--wait=false");
  await untilGone(name);
  expect(await madeFor(metadata.uid)).toEqual([]);
  expect(await objectsNamed(name)).toEqual([]);
});

test.each([
  { wrong: "a name with two hyphens", changed: {}, name: "dou--ble", says: /name 'dou--ble' must not contain '--'/ },
  { wrong: "a name that is too short", changed: {}, name: "ab", says: /name 'ab' must have 3 to 50 characters/ },
  {
    wrong: "a name that starts with a digit",
    changed: {},
    name: "1st",
    says: /name '1st' must be lower-case.*letter/s,
  },
  { wrong: "a reserved name", changed: {}, name: "argocd", says: /name 'argocd' is reserved/ },
  { wrong: "a TTL of 0", changed: { ttlHours: 0 }, says: /spec\.ttlHours.* greater than or equal to 1/ },
  { wrong: "a TTL of 169", changed: { ttlHours: 169 }, says: /spec\.ttlHours.* less than or equal to 168/ },
  { wrong: "an unknown field", changed: { bakend: {} }, says: /unknown field "spec\.bakend"/ },
  {
    wrong: "no branch",
    changed: { backend: { repository: "sample-backend" } },
    says: /spec\.backend\.branch.*Required/,
  },
])("a manifest with $wrong is refused with a sentence that says so", async ({ changed, name, says }) => {
  const chosen = name ?? environments.name("wrong");
  expect(await refusalOf(manifest(chosen, changed))).toMatch(says);
  expect(await kubectl("get", "eenv", chosen, "--ignore-not-found")).toBe("");
});

async function expectColumns(name: string, expiresAt: string): Promise<void> {
  const [header = "", row = ""] = (await kubectl("get", "eenv", name)).split("\n");
  expect(header.trim().split(/\s+/)).toEqual(["NAME", "PHASE", "URL", "OWNER", "EXPIRES", "AGE"]);
  // Empty without an owner.
  const age = expect.stringMatching(/^\d+[smh]/);
  expect(row.trim().split(/\s+/)).toEqual([name, "ready", `https://${name}--api.env.localhost:18443`, expiresAt, age]);
}

async function expectUnchangeable(name: string): Promise<void> {
  const repository = await refusalOf(
    manifest(name, { ttlHours: 2, backend: { ...spec.backend, repository: "another" } }),
  );
  expect(repository).toMatch(/spec\.backend\.repository can't be changed after creation/);
  const frontend = await refusalOf(
    manifest(name, { ttlHours: 2, frontend: { repository: "sample-frontend", branch: "main" } }),
  );
  expect(frontend).toMatch(/spec\.frontend\.repository, and whether there is a frontend at all, can't be changed/);
}

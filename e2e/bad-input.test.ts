import { afterAll, expect, jest, test } from "@jest/globals";
import { ask, type Reply } from "./support/api.ts";
import { create, creation, Environments, find, objectsNamed } from "./support/environments.ts";
import { expiredToken, foreignToken, freshToken } from "./support/identity.ts";
import { TEST_DEADLINE_MS, tokens } from "./support/site.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
afterAll(() => environments.removeAll());

const post = (body: object | string, more: object = {}) => ask("POST", "/environments", { body, ...more });
const { mark } = environments;

function expectRefusal(
  { status, body }: Reply<unknown>,
  expected: { status: number; code?: string; says: RegExp },
): void {
  const code = expected.code === undefined ? {} : { error_code: expected.code };
  const detail = expect.stringMatching(expected.says);
  const timestamp = expect.stringMatching(/^\d{4}-/);
  expect(body).toEqual({ detail, status_code: expected.status, ...code, timestamp });
  expect(status).toBe(expected.status);
}

const invalid = "ENV_CONFIG_INVALID";
test.each([
  {
    wrong: "a name in capitals",
    changed: { environment_name: `Bad-${mark}` },
    code: invalid,
    says: /^environment_name:/,
  },
  { wrong: "a name with --", changed: { environment_name: `a--${mark}` }, code: invalid, says: /^environment_name:/ },
  { wrong: "a TTL of 0", changed: { ttl: 0 }, code: invalid, says: /^ttl:/ },
  { wrong: "a TTL of 169", changed: { ttl: 169 }, code: "ENV_TTL_EXCEEDED", says: /168/ },
  { wrong: "an unknown repository", changed: { backend_repo: "nope" }, code: "ENV_REPO_NOT_FOUND", says: /'nope'/ },
  {
    wrong: "a frontend as backend",
    changed: { backend_repo: "sample-frontend" },
    code: "ENV_REPO_NOT_FOUND",
    says: /^backend_repo:.*'sample-frontend'/,
  },
  { wrong: "an unknown field", changed: { colour: "red" }, code: invalid, says: /^colour:/ },
  { wrong: "a config set", changed: { config_set: "default" }, code: invalid, says: /^config_set:/ },
  {
    wrong: "an override of the image",
    changed: { config_overrides: { helm_values: { backend: { image: "evil" } } } },
    code: invalid,
    says: /^config_overrides\.helm_values\.backend\.image:/,
  },
  {
    wrong: "shared keys and no config set",
    changed: { use_shared_api_keys: true },
    code: invalid,
    says: /^use_shared_api_keys:/,
  },
  {
    wrong: "secrets neither generated nor given",
    changed: { auto_generate_secrets: false },
    code: invalid,
    says: /^auto_generate_secrets:/,
  },
])("a creation with $wrong is refused and makes nothing", async ({ changed, code, says }) => {
  const requested = { ...creation(environments.name("wrong")), ...changed };
  expectRefusal(await post(requested), { status: 400, code, says });
  expect(await objectsNamed(`${requested.environment_name}`)).toEqual([]);
});

test("a broken body, or one of another type, creates nothing", async () => {
  const name = environments.name("broken");
  expectRefusal(await post(JSON.stringify(creation(name)).slice(0, -1)), { status: 400, says: /JSON/ });
  expectRefusal(await post(JSON.stringify(creation(name)), { type: "text/plain" }), { status: 415, says: /./ });
  expect(await objectsNamed(name)).toEqual([]);
});

test("a request without valid credentials is refused and creates nothing", async () => {
  const name = environments.name("proof");
  for (const token of [null, await expiredToken(), await foreignToken()]) {
    const reply = await post(creation(name), { token });
    expectRefusal(reply, { status: 401, says: /./ });
    expect(reply.headers.get("www-authenticate")).toBe("Bearer");
  }
  expect(await objectsNamed(name)).toEqual([]);
  // Counterproof: an unexpired token, made in the same way with the provider's own key, is accepted.
  expect((await ask("GET", "/environments?limit=1", { token: await freshToken() })).status).toBe(200);
});

test("a name is given once, and environments of another team are not found", async () => {
  const name = environments.name("owned");
  const id = await create(name);
  expectRefusal(await post(creation(name)), {
    status: 400,
    code: "ENV_NAME_EXISTS",
    says: /^Environment name already exists$/,
  });

  const token = tokens.otherDeveloper;
  const notFound = { status: 404, code: "ENV_NOT_FOUND", says: /^Environment not found$/ };
  for (const key of [id, name]) {
    expectRefusal(await ask("GET", `/environments/${key}`, { token }), notFound);
    expectRefusal(await ask("PUT", `/environments/${key}`, { token, body: { ttl_hours: 2 } }), notFound);
    expectRefusal(await ask("DELETE", `/environments/${key}`, { token }), notFound);
  }
  const listed = await ask("GET", `/environments?search=${name}`, { token });
  expect(listed.body).toMatchObject({ environments: [], total: 0 });
  const { metadata, spec } = await find(name);
  expect(metadata).toMatchObject({ uid: id, generation: 1 });
  expect(metadata).not.toHaveProperty("deletionTimestamp");
  expect(spec.ttlHours).toBe(1);
});

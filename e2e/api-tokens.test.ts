import { afterAll, expect, jest, test } from "@jest/globals";
import { ask } from "./support/api.ts";
import { type Created, creation, Environments, untilReady } from "./support/environments.ts";
import { kubectl } from "./support/kubectl.ts";
import { TEST_DEADLINE_MS } from "./support/site.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
const ids: string[] = [];
afterAll(async () => {
  for (const id of ids) await ask("DELETE", `/tokens/${id}`);
  // Revoked ones would be listed for a month.
  await kubectl("delete", "etok", "--namespace=ephemeral-system", "--ignore-not-found", ...ids);
  await environments.removeAll();
});

interface Made {
  readonly data: { readonly id: string; readonly token: string };
}

async function makeToken(...scopes: readonly string[]): Promise<Made["data"]> {
  const requested = { name: `e2e ${environments.mark}`, description: "A pipeline", scopes, expires_in_days: 1 };
  const { status, body } = await ask<Made>("POST", "/tokens", { body: requested });
  expect(status).toBe(201);
  ids.push(body.data.id);
  return body.data;
}

test("a pipeline creates an environment with a token, which is good for nothing else", async () => {
  const name = environments.name("token");
  const { id, token } = await makeToken("ENV_CREATE");
  const created = await ask<Created>("POST", "/environments", { token, body: creation(name) });
  expect(created.status).toBe(200);
  expect((await ask("GET", `/environments/${created.body.environment.id}`)).status).toBe(200);
  expect((await untilReady(name)).metadata.uid).toBe(created.body.environment.id);
  expect((await ask("POST", "/tokens", { token, body: { name: "x", scopes: ["ENV_READ"] } })).status).toBe(403);
  expect((await ask("GET", `/tokens/${id}/value`, { token })).status).toBe(403);
  const shown = await ask<{ data: { value: string } }>("GET", `/tokens/${id}/value`);
  expect(shown.body.data.value).toBe(token);
  expect(await kubectl("get", "etok", "-A", "-o", "yaml")).not.toContain(token);

  expect((await ask("DELETE", `/tokens/${id}`)).status).toBe(200);
  const refused = await ask("DELETE", `/environments/${name}`, { token });
  expect(refused).toMatchObject({ status: 401, body: { detail: "The API token was revoked" } });
  expect((await ask("GET", `/tokens/${id}/value`)).status).toBe(404);
});

test("a token with a reading scope changes nothing", async () => {
  const { token } = await makeToken("environments:read");
  expect((await ask("GET", "/environments", { token })).status).toBe(200);
  const name = environments.name("read");
  expect((await ask("POST", "/environments", { token, body: creation(name) })).status).toBe(403);
  expect((await ask("GET", `/environments/${name}`)).status).toBe(404);
});

import { afterAll, expect, jest, test } from "@jest/globals";
import { ask } from "./support/api.ts";
import {
  type Created,
  create,
  creation,
  Environments,
  madeFor,
  objectsNamed,
  untilGone,
  untilReady,
} from "./support/environments.ts";
import { open } from "./support/page.ts";
import { podSecret } from "./support/secrets.ts";
import { TEST_DEADLINE_MS } from "./support/site.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
afterAll(() => environments.removeAll());

const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const urlsOf = (name: string) => ({
  backend: `https://${name}--api.env.localhost:18443`,
  frontend: `https://${name}.env.localhost:18443`,
});
const hoursBetween = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 3_600_000;

interface Shown {
  readonly created_at: string;
  readonly expires_at: string;
}

test.concurrent("a developer creates an environment, opens it, extends it and deletes it", async () => {
  const name = environments.name("life");
  const id = await expectCreated(name);
  expect((await untilReady(name)).metadata.uid).toBe(id);
  await expectPages(name);
  await expectShown(name, id);
  await expectExtended(id);

  const deleted = await ask("DELETE", `/environments/${id}`);
  expect(deleted.body).toEqual({ status: "success", message: expect.any(String) });
  expect(deleted.status).toBe(200);
  // The resource goes last: once it is gone, everything else must be, without further waiting.
  await untilGone(name);
  expect(await madeFor(id)).toEqual([]);
  expect(await objectsNamed(name)).toEqual([]);
  const missed = await ask("DELETE", `/environments/${id}`);
  expect(missed.body).toMatchObject({ detail: "Environment not found", status_code: 404, error_code: "ENV_NOT_FOUND" });
});

test.concurrent("a form creates the same as JSON, and a deletion answers before anything is gone", async () => {
  const name = environments.name("form");
  const form = new URLSearchParams(
    Object.entries(creation(name)).map(([field, value]): [string, string] => [field, `${value}`]),
  );
  const type = "application/x-www-form-urlencoded";
  const { status, body } = await ask<Created>("POST", "/environments", { body: form.toString(), type });
  expect(status).toBe(200);
  expect(body.environment).toMatchObject({ name, status: "creating", ttl_hours: 1, urls: urlsOf(name) });
  const { id } = body.environment;
  await untilReady(name);

  expect((await ask("DELETE", `/environments/${name}`)).status).toBe(200);
  const shown = await ask<{ status: string }>("GET", `/environments/${name}`);
  expect(shown.body).toMatchObject({ id, name, status: "terminating" });
  const repeated = await ask("DELETE", `/environments/${name}`);
  expect(repeated.status).toBe(200);
  const taken = await ask("POST", "/environments", { body: creation(name) });
  expect(taken.body).toMatchObject({ detail: "Environment name already exists", error_code: "ENV_NAME_EXISTS" });
  expect(Number(taken.headers.get("retry-after"))).toBeGreaterThan(0);

  await untilGone(name);
  expect(await madeFor(id)).toEqual([]);
  const again = await create(name);
  expect(again).not.toBe(id);
});

/** Checks the contract's reply to a creation, to the last field; answers its id. */
async function expectCreated(name: string): Promise<string> {
  const { status, body } = await ask<Created>("POST", "/environments", { body: creation(name) });
  expect(status).toBe(200);
  expect(body).toEqual({
    status: "success",
    environment: {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name,
      status: "creating",
      urls: urlsOf(name),
      created_at: instant,
      expires_at: instant,
      ttl_hours: 1,
    },
  });
  return body.environment.id;
}

async function expectPages(name: string): Promise<void> {
  const urls = urlsOf(name);
  const [backend, frontend] = await Promise.all([open(urls.backend), open(urls.frontend)]);
  expect({ backend: backend.status, frontend: frontend.status }).toEqual({ backend: 200, frontend: 200 });
  const secrets = await podSecret(name);
  const variables = ["API_TOKEN", "DATABASE_PASSWORD", "SECRET_KEY"];
  expect(Object.keys(secrets).sort()).toEqual(variables);
  expect(JSON.parse(backend.body)).toMatchObject({
    component: "backend",
    environment: name,
    variables: expect.arrayContaining([...variables, "ENVIRONMENT_NAME"]),
  });
  for (const text of [...variables, urls.backend]) expect(frontend.body).toContain(text);
  for (const value of Object.values(secrets)) expect(`${backend.body}${frontend.body}`).not.toContain(value);
}

async function expectShown(name: string, id: string): Promise<void> {
  const creator = { email: "dev@example.test", name: "Dana Developer" };
  const urls = urlsOf(name);
  const listed = { id, name, status: "ready", urls, created_at: instant, expires_at: instant, creator };
  const commit = expect.stringMatching(/^[0-9a-f]{40}$/);
  const detail = await ask<Shown>("GET", `/environments/${id}`);
  expect(detail.status).toBe(200);
  expect(detail.body).toEqual({
    ...listed,
    updated_at: instant,
    ttl_hours: 1,
    repositories: {
      backend: { repo: "sample-backend", branch: "main", commit },
      frontend: { repo: "sample-frontend", branch: "main", commit },
    },
    cluster: { namespace: `env-${name}`, deployer_app: `env-${name}` },
    configuration: { config_set: "", database_provisioned: false, auto_generated_secrets: true },
  });
  expect(hoursBetween(detail.body.created_at, detail.body.expires_at)).toBe(1);
  const page = await ask("GET", `/environments?search=${name}&status=ready`);
  expect(page.body).toEqual({ environments: [listed], total: 1, limit: 50, offset: 0 });
}

async function expectExtended(id: string): Promise<void> {
  const longer = { ttl_hours: 3, description: "the review takes longer" };
  const extended = await ask<{ environment: Shown }>("PUT", `/environments/${id}`, { body: longer });
  expect(extended.body).toEqual({ status: "success", environment: { id, expires_at: instant, ttl_hours: 3 } });
  const shown = await ask<Shown>("GET", `/environments/${id}`);
  expect(shown.body).toMatchObject({ expires_at: extended.body.environment.expires_at, ttl_hours: 3 });
  expect(hoursBetween(shown.body.created_at, shown.body.expires_at)).toBe(3);
}

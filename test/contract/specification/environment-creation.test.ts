import { describe, expect, test } from "@jest/globals";
import { startApiService } from "../../support/http/api-service.ts";
import { shapeOf } from "../../support/http/shape-of.ts";
import { required, specifiedCalls, URLS, withFrontend } from "./specified-calls.ts";

const api = specifiedCalls();
const { call, create, made } = api;

const createForm = (body: object) =>
  api.service.http.post("/api/environments").set({ authorization: api.authorization }).type("form").send(body);

describe("Environment (as returned by Get Environment)", () => {
  test("has these fields, of these types, and no others", async () => {
    const reply = await call("get", `/api/environments/${await made()}`);
    expect(shapeOf(reply.body)).toEqual({
      id: "string",
      name: "string",
      status: "string",
      urls: URLS,
      created_at: "ISO 8601",
      updated_at: "ISO 8601",
      expires_at: "ISO 8601",
      ttl_hours: "integer",
      creator: { email: "string", name: "string" },
      repositories: {
        backend: { repo: "string", branch: "string", commit: "string" },
        frontend: { repo: "string", branch: "string", commit: "string" },
      },
      cluster: { namespace: "string", deployer_app: "string" },
      configuration: { config_set: "string", database_provisioned: "boolean", auto_generated_secrets: "boolean" },
    });
    const { id, urls, created_at, expires_at, ttl_hours } = reply.body;
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    expect([urls.backend, urls.frontend]).toEqual([expect.stringMatching(/^https:/), expect.stringMatching(/^https:/)]);
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(ttl_hours * 3_600_000);
  });

  test.each(["creating", "ready", "failed", "terminating", "updating", "building"] as const)(
    "has the status %s",
    async (phase) => {
      const environment = await api.service.environments.create("seen", {
        backend: { repository: "shop-api", branch: "main" },
        access: { groups: ["shop"] },
      });
      const leaving = phase === "terminating" ? { deletionTimestamp: "2026-06-01T12:00:00Z" } : {};
      const metadata = { ...environment.metadata, ...leaving };
      api.service.environments.put({ ...environment, metadata, status: { phase } });
      expect((await call("get", "/api/environments/seen")).body.status).toBe(phase);
      expect((await call("get", `/api/environments?status=${phase}`)).body.total).toBe(1);
    },
  );
});

describe("POST /api/environments", () => {
  test("answers 200 with status 'success' and these fields", async () => {
    const reply = await create();
    expect(reply.status).toBe(200);
    expect(reply.body.status).toBe("success");
    expect(shapeOf(reply.body)).toEqual({
      status: "string",
      environment: {
        id: "string",
        name: "string",
        status: "string",
        urls: URLS,
        created_at: "ISO 8601",
        expires_at: "ISO 8601",
        ttl_hours: "integer",
      },
    });
    expect(reply.body.environment.status).toBe("creating");
  });

  const parameters: readonly (readonly [
    name: string,
    type: "string" | "integer" | "boolean" | "object",
    value: unknown,
  ])[] = [
    ["environment_name", "string", "feature-test"],
    ["backend_repo", "string", "shop-api"],
    ["backend_branch", "string", "main"],
    ["backend_commit", "string", "0123456789abcdef0123456789abcdef01234567"],
    ["frontend_repo", "string", "shop-web"],
    ["frontend_branch", "string", "trunk"],
    ["frontend_commit", "string", "0123456789abcdef0123456789abcdef01234567"],
    ["ttl", "integer", 48],
    ["provision_database", "boolean", true],
    ["auto_generate_secrets", "boolean", true],
    ["use_shared_api_keys", "boolean", false],
    ["config_set", "string", "web"],
    ["config_overrides", "object", { helm_values: { backend: { env: { LOG_LEVEL: "debug" } } } }],
  ];
  const all = Object.fromEntries(parameters.map(([name, , value]) => [name, value]));

  test("takes every parameter, as JSON", async () => {
    const reply = await create(all);
    expect([reply.status, reply.body.environment?.ttl_hours]).toEqual([200, 48]);
  });

  test("takes every parameter, form-encoded with the same field names", async () => {
    const asText = ([name, type, value]: (typeof parameters)[number]) => [
      name,
      type === "object" ? JSON.stringify(value) : String(value),
    ];
    const reply = await createForm(Object.fromEntries(parameters.map(asText)));
    expect([reply.status, reply.body.environment?.ttl_hours]).toEqual([200, 48]);
  });

  test.each(parameters)("takes %s as %s, and as nothing else", async (name, type) => {
    const other = { string: 7, integer: "7", boolean: "true", object: "text" }[type];
    const reply = await create({ ...all, [name]: other });
    expect([reply.status, reply.body.detail]).toEqual([400, expect.stringContaining(name)]);
  });

  test.each(["environment_name", "backend_repo", "backend_branch"])("requires %s", async (name) => {
    const { [name]: _left, ...others } = withFrontend as Record<string, string>;
    const reply = await create(others);
    expect([reply.status, reply.body.detail]).toEqual([400, `${name}: is required`]);
  });

  test("needs only the required fields", async () => {
    expect((await create(required)).status).toBe(200);
  });

  test("has a TTL of 24 hours where none is asked for, and of 168 at most", async () => {
    expect((await create(required)).body.environment.ttl_hours).toBe(24);
    const most = await create({ ...required, environment_name: "long", ttl: 168 });
    expect(most.body.environment.ttl_hours).toBe(168);
    const beyond = await create({ ...required, environment_name: "longer", ttl: 169 });
    expect(beyond.body).toMatchObject({ status_code: 400, error_code: "ENV_TTL_EXCEEDED" });
  });

  test("generates secrets where nothing else is asked for, and provisions no database", async () => {
    const { configuration } = (await call("get", `/api/environments/${await made(required)}`)).body;
    expect(configuration).toEqual({ config_set: "", database_provisioned: false, auto_generated_secrets: true });
  });

  test("answers 400 when the name already exists", async () => {
    await create();
    const reply = await create();
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ detail: "Environment name already exists", status_code: 400 });
  });
});

describe("Secrets overrides", () => {
  const overriding = (value: unknown) => ({
    ...required,
    config_overrides: { helm_values: { backend: { env: { STRIPE_KEY: value } } } },
  });

  test("are plain strings", async () => {
    expect((await create(overriding("sk_test_1"))).status).toBe(200);
  });

  test("or name a version of a secret in the secret manager", async () => {
    await api.service.stop();
    api.service = await startApiService({
      settings: { secrets: { shared: [{ ids: ["shared-stripe"], groups: ["shop"] }] } },
    });
    api.authorization = await api.service.bearer("developer");
    api.service.secretManager.share({ id: "shared-stripe", labels: {}, values: ["sk_live_1"] });
    const reply = await create(overriding({ secretKeyRef: { name: "shared-stripe", key: "latest" } }));
    expect([reply.status, reply.body.detail]).toEqual([200, undefined]);
  });

  test("have to give every secret where none is generated", async () => {
    const without = { ...required, auto_generate_secrets: false };
    expect((await create(without)).status).toBe(400);
    const env = { DATABASE_PASSWORD: "a", SECRET_KEY: "b", API_TOKEN: "c" };
    const reply = await create({ ...without, config_overrides: { helm_values: { backend: { env } } } });
    expect([reply.status, reply.body.detail]).toEqual([200, undefined]);
  });
});

test("POST /api/environments/{environment_id}/reconcile-status forces a status reconciliation", async () => {
  const reply = await call("post", `/api/environments/${await made()}/reconcile-status`);
  expect([reply.status, reply.body.status]).toEqual([200, "success"]);
  expect(shapeOf(reply.body)).toEqual({ status: "string", message: "string" });
});

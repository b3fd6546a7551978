/** The specification's tables and examples about environments, word for word: a client that was written from it works. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { configSetFixture } from "../../support/fixtures/environment-fixture.ts";
import { type ApiService, startApiService } from "../../support/http/api-service.ts";
import { shapeOf } from "../../support/http/shape-of.ts";

let service: ApiService;
let authorization: string;
beforeEach(async () => {
  service = await startApiService({ configSets: [configSetFixture("web")] });
  authorization = await service.bearer("developer");
});
afterEach(() => service.stop());

const required = { environment_name: "feature-test", backend_repo: "shop-api", backend_branch: "main" };
const withFrontend = { ...required, frontend_repo: "shop-web", frontend_branch: "main" };
const URLS = { backend: "string", frontend: "string" };

type Method = "get" | "post" | "put" | "delete";
function call(method: Method, path: string, body?: object) {
  const request = service.http[method](path).set({ authorization });
  return body === undefined ? request : request.send(body);
}
const create = (body: object = withFrontend) => call("post", "/api/environments", body);
const createForm = (body: object) =>
  service.http.post("/api/environments").set({ authorization }).type("form").send(body);
const made = async (body?: object): Promise<string> => (await create(body)).body.environment.id;

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
      const environment = await service.environments.create("seen", {
        backend: { repository: "shop-api", branch: "main" },
        access: { groups: ["shop"] },
      });
      const leaving = phase === "terminating" ? { deletionTimestamp: "2026-06-01T12:00:00Z" } : {};
      const metadata = { ...environment.metadata, ...leaving };
      service.environments.put({ ...environment, metadata, status: { phase } });
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
    await service.stop();
    service = await startApiService({
      settings: { secrets: { shared: [{ ids: ["shared-stripe"], groups: ["shop"] }] } },
    });
    authorization = await service.bearer("developer");
    service.secretManager.share({ id: "shared-stripe", labels: {}, values: ["sk_live_1"] });
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

describe("GET /api/environments", () => {
  beforeEach(async () => {
    for (const name of ["one", "two", "three"]) {
      await create({ ...withFrontend, environment_name: `shop-${name}` });
      service.clock.advance(60_000);
    }
  });
  const list = (query = "") => call("get", `/api/environments${query}`);
  const names = async (query: string) =>
    (await list(query)).body.environments.map(({ name }: { name: string }) => name).sort();

  test("answers the list form", async () => {
    expect(shapeOf((await list()).body)).toEqual({
      environments: [
        {
          id: "string",
          name: "string",
          status: "string",
          urls: URLS,
          created_at: "ISO 8601",
          expires_at: "ISO 8601",
          creator: { email: "string", name: "string" },
        },
      ],
      total: "integer",
      limit: "integer",
      offset: "integer",
    });
  });

  test("has a limit of 50 and an offset of 0 where none is asked for", async () => {
    expect((await list()).body).toMatchObject({ total: 3, limit: 50, offset: 0 });
  });

  test("takes a limit of 100 at most", async () => {
    expect((await list("?limit=100")).body.limit).toBe(100);
    expect((await list("?limit=101")).status).toBe(400);
  });

  test("skips as many results as offset says", async () => {
    const { environments, total, offset } = (await list("?limit=2&offset=2")).body;
    expect([environments.length, total, offset]).toEqual([1, 3, 2]);
  });

  test.each(["creating", "ready", "failed", "terminating"])("filters by the status %s", async (status) => {
    expect((await list(`?status=${status}`)).body.total).toBe(status === "creating" ? 3 : 0);
  });

  test("searches in names", async () => {
    expect(await names("?search=o-t")).toEqual([]);
    expect(await names("?search=p-t")).toEqual(["shop-three", "shop-two"]);
  });

  test("filters by ISO timestamps", async () => {
    expect(await names("?created_after=2026-06-01T12:01:00Z")).toEqual(["shop-three", "shop-two"]);
    expect(await names("?created_before=2026-06-01T12:01:00Z")).toEqual(["shop-one"]);
    expect((await list("?created_after=yesterday")).status).toBe(400);
  });

  test("lists only environments accessible to the current user", async () => {
    authorization = await service.bearer("stranger");
    expect((await list()).body).toEqual({ environments: [], total: 0, limit: 50, offset: 0 });
  });
});

describe("PUT /api/environments/{environment_id}", () => {
  test("extends the TTL: expires_at moves to match it", async () => {
    const id = await made();
    const before = (await call("get", `/api/environments/${id}`)).body;
    const reply = await call("put", `/api/environments/${id}`, { ttl_hours: 48, description: "Review takes longer" });
    expect(reply.status).toBe(200);
    expect(reply.body.status).toBe("success");
    expect(shapeOf(reply.body)).toEqual({
      status: "string",
      environment: { id: "string", expires_at: "ISO 8601", ttl_hours: "integer" },
    });
    expect(Date.parse(reply.body.environment.expires_at) - Date.parse(before.created_at)).toBe(48 * 3_600_000);
  });

  test("takes 168 hours at most", async () => {
    const id = await made();
    expect((await call("put", `/api/environments/${id}`, { ttl_hours: 168 })).status).toBe(200);
    const reply = await call("put", `/api/environments/${id}`, { ttl_hours: 169 });
    expect(reply.body).toMatchObject({ status_code: 400, error_code: "ENV_TTL_EXCEEDED" });
  });
});

describe("DELETE /api/environments/{environment_id}", () => {
  test("answers 200: the deletion is initiated", async () => {
    const id = await made();
    const reply = await call("delete", `/api/environments/${id}`);
    expect([reply.status, reply.body.status]).toEqual([200, "success"]);
    expect(shapeOf(reply.body)).toEqual({ status: "string", message: "string" });
    expect((await call("get", `/api/environments/${id}`)).body.status).toBe("terminating");
  });

  test("answers 404 for one that is unknown", async () => {
    const reply = await call("delete", "/api/environments/3f0c2d4e-8f5a-4a39-9d0b-6a1f6c1f7f10");
    expect(reply.status).toBe(404);
    expect(reply.body).toMatchObject({ detail: "Environment not found", status_code: 404 });
  });
});

test("POST /api/environments/{environment_id}/reconcile-status forces a status reconciliation", async () => {
  const reply = await call("post", `/api/environments/${await made()}/reconcile-status`);
  expect([reply.status, reply.body.status]).toEqual([200, "success"]);
  expect(shapeOf(reply.body)).toEqual({ status: "string", message: "string" });
});

describe("GET /api/environments/{environment_id}/logs/{component}", () => {
  const write = (count: number) => {
    const at = new Date(Date.now() - 45 * 60_000);
    for (let line = 1; line <= count; line++) {
      service.podLogs.write("feature-test", "backend", { at, text: `line ${line}` });
    }
  };
  const logs = async (component: string, query = "") =>
    call("get", `/api/environments/feature-test/logs/${component}${query}`);
  beforeEach(() => create());

  test.each(["backend", "frontend", "argocd"])("answers the logs of %s", async (component) => {
    write(1);
    const reply = await logs(component);
    expect(reply.status).toBe(200);
    expect(reply.body.component).toBe(component);
    const entry = { timestamp: "ISO 8601", level: "string", message: "string" };
    const entries = reply.body.total_lines === 0 ? [] : [entry];
    expect(shapeOf(reply.body)).toEqual({ component: "string", logs: entries, total_lines: "integer" });
    if (component === "backend") expect(reply.body.logs[0]).toMatchObject({ level: "INFO", message: "line 1" });
  });

  test("answers 100 lines where no number is asked for, and 1000 at most", async () => {
    write(1200);
    expect((await logs("backend")).body.logs).toHaveLength(100);
    expect((await logs("backend", "?lines=1000")).body.logs).toHaveLength(1000);
    expect((await logs("backend", "?lines=1001")).status).toBe(400);
  });

  test.each([
    ["1h", 1],
    ["30m", 0],
  ])("answers those of the last %s", async (since, count) => {
    write(1);
    expect((await logs("backend", `?since=${since}`)).body.logs).toHaveLength(count);
  });
});

test("GET /api/environments/{environment_id}/check-all-urls answers how each URL did", async () => {
  const id = await made();
  const environment = await service.environments.find(id);
  if (environment === undefined) throw new Error("not made");
  const urls = { backend: "https://b.example.test", frontend: "https://f.example.test" };
  service.environments.put({ ...environment, status: { phase: "ready", urls } });
  const reply = await call("get", `/api/environments/${id}/check-all-urls`);
  const result = { url: "string", status: "string", response_time_ms: "integer" };
  expect(reply.status).toBe(200);
  expect(shapeOf(reply.body)).toEqual({
    environment_id: "string",
    status: "string",
    details: { backend: result, frontend: result },
    checked_at: "ISO 8601",
  });
  expect(reply.body).toMatchObject({
    environment_id: id,
    status: "healthy",
    details: { backend: { status: "healthy" } },
  });
});

/** The specification's tables about all that is not an environment: tokens, health, errors, limits, versions. */
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, type ServiceOptions, startApiService } from "../../support/http/api-service.ts";
import { shapeOf } from "../../support/http/shape-of.ts";

let service: ApiService;
let authorization: string;
const start = async (options: ServiceOptions = {}) => {
  service = await startApiService(options);
  authorization = await service.bearer("admin");
};
beforeEach(() => start());
afterEach(() => service.stop());

/** Starts the service anew with other settings. */
async function restart(options: ServiceOptions): Promise<void> {
  await service.stop();
  await start(options);
}

const environment = { environment_name: "feature-test", backend_repo: "open-api", backend_branch: "main" };

describe("API tokens", () => {
  const body = { name: "CI", description: "Pipelines of the shop", scopes: ["ENV_CREATE", "ENV_READ"] };
  const make = (more: object = {}) =>
    service.http
      .post("/api/tokens")
      .set({ authorization })
      .send({ ...body, ...more });

  test("are created with name, description and scopes, with a user's credentials", async () => {
    const reply = await make();
    expect(reply.status).toBe(201);
    expect(reply.body.data).toMatchObject(body);
    expect(reply.body.data.token).toMatch(/^svc_/);
    const byToken = await service.http
      .post("/api/tokens")
      .set("authorization", `Bearer ${reply.body.data.token}`)
      .send(body);
    expect(byToken.status).toBe(403);
  });

  test.each(["ENV_CREATE", "ENV_READ", "CONFIG_READ", "CONFIG_WRITE", "environments:create", "environments:read"])(
    "know the scope %s",
    async (scope) => {
      expect((await make({ scopes: [scope] })).body.data.scopes).toEqual([scope]);
    },
  );

  test("know no other scope", async () => {
    expect((await make({ scopes: ["ENV_EVERYTHING"] })).status).toBe(400);
  });

  test("create environments with the scope ENV_CREATE, as `Bearer svc_<API_TOKEN>`", async () => {
    const creating = (await make({ scopes: ["ENV_CREATE"] })).body.data.token;
    const reading = (await make({ scopes: ["ENV_READ"] })).body.data.token;
    const create = (token: string) =>
      service.http.post("/api/environments").set("authorization", `Bearer ${token}`).send(environment);
    expect((await create(reading)).status).toBe(403);
    expect((await create(creating)).status).toBe(200);
    const read = await service.http.get("/api/environments/feature-test").set("authorization", `Bearer ${reading}`);
    expect(read.status).toBe(200);
  });

  test("are listed, shown and revoked", async () => {
    const { id, token } = (await make()).body.data;
    const { items } = (await service.http.get("/api/tokens").set({ authorization })).body.data;
    expect(items.map((item: { id: string }) => item.id)).toEqual([id]);
    const value = await service.http.get(`/api/tokens/${id}/value`).set({ authorization });
    expect(JSON.stringify(value.body.data)).toContain(token);
    expect((await service.http.delete(`/api/tokens/${id}`).set({ authorization })).status).toBe(200);
    service.clock.advance(1000);
    const used = await service.http.get("/api/environments").set("authorization", `Bearer ${token}`);
    expect(used.status).toBe(401);
  });
});

describe("Health", () => {
  test("GET /api/health", async () => {
    const reply = await service.http.get("/api/health");
    expect([reply.status, reply.body.status]).toEqual([200, "healthy"]);
    expect(shapeOf(reply.body)).toEqual({
      status: "string",
      timestamp: "ISO 8601",
      version: "string",
      service: "string",
    });
  });

  const checks = { datastore: "string", cache: "string", deployer: "string" };
  test("GET /api/ready", async () => {
    const reply = await service.http.get("/api/ready");
    expect([reply.status, reply.body.status, reply.body.checks.datastore]).toEqual([200, "ready", "healthy"]);
    expect(shapeOf(reply.body)).toEqual({ status: "string", checks, timestamp: "ISO 8601" });
  });

  test("GET /api/ready when a dependency is unhealthy", async () => {
    service.health.setHealthy("deployer", false);
    const reply = await service.http.get("/api/ready");
    expect([reply.status, reply.body.status, reply.body.checks.deployer]).toEqual([503, "not ready", "unhealthy"]);
    expect(shapeOf(reply.body)).toEqual({ status: "string", checks, timestamp: "ISO 8601" });
  });

  test("GET /api/status", async () => {
    const reply = await service.http.get("/api/status");
    expect(shapeOf(reply.body)).toMatchObject({
      status: "string",
      timestamp: "ISO 8601",
      version: "string",
      services: {
        datastore: { healthy: "boolean", response_time_ms: "integer", last_check: "ISO 8601" },
        cache: {
          healthy: "boolean",
          response_time_ms: "integer",
          memory_usage: "string",
          last_check: "ISO 8601",
        },
        deployer: { healthy: "boolean", applications_synced: "integer", last_check: "ISO 8601" },
      },
    });
  });
});

/** Those that this release has. */
const KNOWN_BY_METHOD_AND_PATH = [
  ["get", "/api/config-sets"],
  ["post", "/api/config-sets"],
  ["get", "/api/config-sets/{id}"],
  ["put", "/api/config-sets/{id}"],
  ["delete", "/api/config-sets/{id}"],
  ["get", "/api/tokens"],
  ["delete", "/api/tokens/{id}"],
  ["get", "/api/tokens/{id}/value"],
  ["get", "/api/repos"],
  ["get", "/api/repos/{id}"],
  ["post", "/api/repos/reload"],
  ["post", "/api/auth/password-reset"],
  ["get", "/api/auth/user"],
  ["get", "/api/helm/config-template"],
  ["get", "/api/demos/dashboard"],
  ["post", "/api/demos/sample-environment"],
  ["post", "/api/environments/cleanup-failed"],
] as const;

describe("Endpoints known by method and path only", () => {
  const document = JSON.parse(readFileSync(new URL("../../../api/openapi.json", import.meta.url), "utf8"));

  test.each(KNOWN_BY_METHOD_AND_PATH)("%s %s is there, in both versions", async (method, path) => {
    for (const versioned of [path, path.replace("/api/", "/api/v2/")]) {
      expect(document.paths[versioned]).toHaveProperty(method);
      const reply = await service.http[method](versioned.replaceAll(/\{\w+\}/g, "unknown"));
      // Nothing is said without a credential, but that one is needed; a body that lacks is told where none is.
      expect([401, 400]).toContain(reply.status);
    }
  });
});

describe("Generic response envelopes", () => {
  test.each(["/api/config-sets", "/api/repos", "/api/tokens", "/api/auth/user"])("of %s", async (path) => {
    const { body } = await service.http.get(path).set({ authorization });
    expect([Object.keys(body).sort(), body.status]).toEqual([["data", "status", "timestamp"], "success"]);
    expect(body.data).toEqual(expect.any(Object));
    expect(shapeOf(body.timestamp)).toBe("ISO 8601");
  });

  test("of an error", async () => {
    const { body } = await service.http.get("/api/config-sets/unknown").set({ authorization });
    expect(shapeOf(body)).toEqual({ detail: "string", status_code: "integer", timestamp: "ISO 8601" });
  });
});

describe("Common request headers", () => {
  test.each(["post", "put"] as const)("Content-Type: application/json is required for %s", async (method) => {
    const path = method === "post" ? "/api/environments" : "/api/environments/feature-test";
    const reply = await service.http[method](path).set({ authorization }).type("text/plain").send("{}");
    expect(reply.status).toBe(415);
  });

  test("X-Request-ID: <uuid> is an optional tracing id", async () => {
    const id = "3f0c2d4e-8f5a-4a39-9d0b-6a1f6c1f7f10";
    expect((await service.http.get("/api/health").set("x-request-id", id)).headers["x-request-id"]).toBe(id);
    expect((await service.http.get("/api/health")).headers["x-request-id"]).toMatch(/.+/);
  });
});

describe("Errors", () => {
  const create = (more: object = {}) =>
    service.http
      .post("/api/environments")
      .set({ authorization })
      .send({ ...environment, ...more });
  const get = (path: string) => service.http.get(path).set({ authorization });

  const codes: readonly (readonly [string, number, () => Promise<{ status: number; body: object }>])[] = [
    ["ENV_NAME_EXISTS", 400, async () => create().then(() => create())],
    ["ENV_NOT_FOUND", 404, async () => get("/api/environments/unknown")],
    ["ENV_TTL_EXCEEDED", 400, async () => create({ ttl: 169 })],
    ["ENV_REPO_NOT_FOUND", 400, async () => create({ backend_repo: "unknown" })],
    ["ENV_REPO_NOT_FOUND", 404, async () => get("/api/repos/unknown")],
    ["ENV_CONFIG_INVALID", 400, async () => create({ ttl: "long" })],
    [
      "ENV_CREATION_FAILED",
      500,
      async () => {
        service.environments.failNext(new Error("nobody foresaw it"));
        return create();
      },
    ],
    [
      "ENV_CREATION_FAILED",
      503,
      async () => {
        service.environments.setReachable(false);
        return create();
      },
    ],
  ];
  test.each(codes)("%s is answered with %s", async (error_code, status_code, ask) => {
    const { status, body } = await ask();
    expect(status).toBe(status_code);
    expect(body).toMatchObject({ status_code, error_code });
    expect(shapeOf(body)).toEqual({
      detail: "string",
      status_code: "integer",
      error_code: "string",
      timestamp: "ISO 8601",
    });
  });

  const NOT_FOUND = { detail: "Environment not found", status_code: 404 };
  const statuses: readonly (readonly [number, string, () => Promise<{ status: number; body: object }>])[] = [
    [400, "bad request", async () => create({ environment_name: "" })],
    [401, "unauthorized", async () => service.http.get("/api/environments")],
    [403, "forbidden", async () => get("/api/environments").set("authorization", await service.bearer("nobody"))],
    [404, "not found", async () => get("/api/environments/unknown")],
    [
      409,
      "conflict",
      async () => {
        await create();
        await service.http.delete("/api/environments/feature-test").set({ authorization });
        return service.http.put("/api/environments/feature-test").set({ authorization }).send({ ttl_hours: 48 });
      },
    ],
  ];
  test.each(statuses)("%s: %s", async (status_code, _meaning, ask) => {
    const { status, body } = await ask();
    expect(status).toBe(status_code);
    expect(body).toMatchObject({ detail: expect.any(String), status_code });
    if (status_code === 404) expect(body).toMatchObject(NOT_FOUND);
  });
});

describe("Limits", () => {
  /** As the settings have it where they say nothing. */
  const documented = { authenticatedPerMinute: 100, unauthenticatedPerMinute: 10 } as const;
  const HEADERS = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

  test.each([
    ["authenticated", 100],
    ["unauthenticated", 10],
  ] as const)("of %s requests: %s per minute, told in the headers, then 429", async (who, limit) => {
    await restart({ limits: documented });
    const ask = () => {
      const request = service.http.get("/api/environments");
      return who === "authenticated" ? request.set({ authorization }) : request;
    };
    for (let count = 1; count <= limit; count++) {
      const { status, headers } = await ask();
      expect([count, status]).toEqual([count, who === "authenticated" ? 200 : 401]);
      expect([headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]]).toEqual([
        `${limit}`,
        `${limit - count}`,
      ]);
    }
    const over = await ask();
    expect(over.status).toBe(429);
    expectPromised(over, "get", "/api/environments");
    for (const header of HEADERS) expect(Number.isInteger(Number(over.headers[header]))).toBe(true);
    const secondsLeft = Number(over.headers["x-ratelimit-reset"]) - Date.now() / 1000;
    expect(secondsLeft > 0 && secondsLeft <= 61).toBe(true);
  });
});

describe("Versioning", () => {
  test("v1 is /api/*, v2 is /api/v2/*, and both take both credentials", async () => {
    const { value } = await service.makeToken("admin");
    for (const credential of [authorization, `Bearer ${value}`]) {
      const v1 = await service.http.get("/api/environments").set("authorization", credential);
      const v2 = await service.http.get("/api/v2/environments").set("authorization", credential);
      expect([v1.status, v2.status]).toEqual([200, 200]);
      expect(v2.body).toEqual({ status: "success", data: v1.body, timestamp: expect.any(String) });
    }
  });
});

describe("Interactive documentation", () => {
  test.each(["/docs", "/redoc"])("is served at %s", async (path) => {
    const reply = await service.http.get(path);
    expect([reply.status, reply.type]).toEqual([200, "text/html"]);
  });
});

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

async function restart(options: ServiceOptions): Promise<void> {
  await service.stop();
  await start(options);
}

const environment = { environment_name: "feature-test", backend_repo: "open-api", backend_branch: "main" };

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
        service.environments.failNext(new Error("unforeseen"));
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
    [403, "forbidden", async () => get("/api/environments").set("authorization", await service.bearer("outsider"))],
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
  /** The settings' defaults. */
  const documented = { authenticatedPerMinute: 100, unauthenticatedPerMinute: 10 } as const;
  const HEADERS = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

  test.each([
    ["authenticated", 100],
    ["unauthenticated", 10],
  ] as const)("of %s requests: %s per minute, stated in the headers, then 429", async (who, limit) => {
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

import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { expectProblem } from "../../support/http/api-promises.ts";
import { type ApiService, startApiService } from "../../support/http/api-service.ts";

let service: ApiService;

beforeEach(async () => {
  service = await startApiService();
});
afterEach(() => service.stop());

describe("the id of a request", () => {
  test.each(["abc", "A-1_2.3", "3f0c2d4e-8f5a-4a39-9d0b-6a1f6c1f7f10", "x".repeat(64)])("%s is kept", async (id) => {
    expect((await service.http.get("/api/health").set("x-request-id", id)).headers["x-request-id"]).toBe(id);
  });

  test.each(["", "a b", "a;b=c", "a/b", "x".repeat(65), "x".repeat(10_000), "<script>"])(
    "%j is replaced",
    async (id) => {
      const reply = await service.http.get("/nowhere").set("x-request-id", id);
      expect(reply.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
      expect(service.log.filter(({ facts }) => facts.requestId === reply.headers["x-request-id"])).toHaveLength(1);
      if (id !== "") expect(JSON.stringify(service.log)).not.toContain(JSON.stringify(id).slice(1, -1));
    },
  );
});

describe("paths without a route", () => {
  test.each([
    "/",
    "/api",
    "/api/",
    "/nowhere",
    "/api/nowhere",
    "/API/health",
    "/api/Health",
    "/api/health//",
    "//api/health",
    "/api/environments/x/y",
    "/api/v3/health",
    "/api/v2",
    "/docs//",
    "/docs/index.html",
    "/docs/../package.json",
    "/docs/%2e%2e/package.json",
    "/api/%2e%2e/api/health",
    "/api/environments/%2e%2e%2fhealth/logs",
  ])("%s is 404", async (path) => {
    expectProblem(await service.http.get(path), 404, "Not found");
  });

  test("a path that can't be decoded is 400", async () => {
    const authorization = await service.bearer("developer");
    expectProblem(await service.http.get("/api/environments/%zz").set({ authorization }), 400);
  });

  test.each([
    ["patch", "/api/environments", "GET, HEAD, POST"],
    ["delete", "/api/v2/environments", "GET, HEAD, POST"],
    ["post", "/api/environments/x", "DELETE, GET, HEAD, PUT"],
    ["patch", "/api/environments/x", "DELETE, GET, HEAD, PUT"],
    ["post", "/api/v2/environments/x", "DELETE, GET, HEAD, PATCH, PUT"],
    ["options", "/api/environments", "GET, HEAD, POST"],
    ["trace", "/api/health", "GET, HEAD"],
    ["post", "/docs", "GET, HEAD"],
  ] as const)("%s %s is 405 and names %s", async (method, path, allow) => {
    const reply = await service.http[method](path).set("x-http-method-override", "DELETE");
    expectProblem(reply, 405, "Method not allowed");
    expect(reply.headers.allow).toBe(allow);
  });
});

describe("every answer", () => {
  test.each(["/api/health", "/api/environments", "/nowhere"])("of %s is for programs only", async (path) => {
    const { headers } = await service.http.get(path).set("origin", "https://evil.example");
    expect(headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none';frame-ancestors 'none'",
    });
    for (const absent of ["x-powered-by", "access-control-allow-origin", "set-cookie", "server", "etag"]) {
      expect(headers).not.toHaveProperty(absent);
    }
  });

  test("of a change leaves one line with the caller and the target", async () => {
    const authorization = await service.bearer("developer");
    const body = { environment_name: "noted", backend_repo: "shop-api", backend_branch: "main" };
    await service.http.post("/api/environments").set({ authorization }).send(body);
    await service.http.delete("/api/environments/noted").set({ authorization });
    const lines = service.log.filter(({ message, level }) => message === "request answered" && level === "info");
    expect(lines.map(({ facts }) => [facts.method, facts.subject, facts.target, facts.status])).toEqual([
      ["POST", `${service.issuer.issuer}#dev`, "noted", 200],
      ["DELETE", `${service.issuer.issuer}#dev`, "noted", 200],
    ]);
  });
});

import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import supertest from "supertest";
import { openApiDocument } from "../../api/openapi/document.ts";
import { listRoutes } from "../../api/routes.ts";
import { memorySharedCounters } from "../support/doubles/memory/shared-counters.ts";
import { expectProblem, expectPromised } from "../support/http/api-promises.ts";
import { type ApiService, NOW, startApiService, VERSION } from "../support/http/api-service.ts";

let service: ApiService;
beforeEach(async () => {
  service = await startApiService();
});
afterEach(() => service.stop());

describe.each(["/api", "/api/v2"])("health below %s", (prefix) => {
  test("health says that the process answers", async () => {
    const reply = await service.http.get(`${prefix}/health`);
    expectPromised(reply, "get", `${prefix}/health`);
    expect(reply.body).toEqual({
      status: "healthy",
      timestamp: NOW,
      version: VERSION,
      service: "ephemeral-environments",
    });
  });

  test("ready says that every dependency is there", async () => {
    const reply = await service.http.get(`${prefix}/ready`);
    expectPromised(reply, "get", `${prefix}/ready`);
    const checks = { datastore: "healthy", cache: "healthy", deployer: "healthy" };
    expect(reply.body).toEqual({ status: "ready", checks, timestamp: NOW });
  });

  test.each(["datastore", "cache", "deployer"] as const)("ready is 503 without the %s, and names it", async (part) => {
    service.health.setHealthy(part, false);
    const reply = await service.http.get(`${prefix}/ready`);
    expectPromised(reply, "get", `${prefix}/ready`);
    expect(reply.status).toBe(503);
    expect(reply.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
    expect(reply.body).toMatchObject({ status: "not ready", checks: { [part]: "unhealthy" } });
    expect((await service.http.get(`${prefix}/health`)).status).toBe(200);
    expect((await service.http.get(`${prefix}/status`)).body).toMatchObject({
      status: "unhealthy",
      services: { [part]: { healthy: false } },
    });
  });

  test("ready is 503 as soon as the process stops taking work", async () => {
    service.stopping.abort();
    expect((await service.http.get(`${prefix}/ready`)).status).toBe(503);
    expect((await service.http.get(`${prefix}/health`)).status).toBe(200);
  });

  test("status describes each dependency", async () => {
    const reply = await service.http.get(`${prefix}/status`);
    expectPromised(reply, "get", `${prefix}/status`);
    expect(reply.body).toEqual({
      status: "healthy",
      timestamp: NOW,
      version: VERSION,
      services: {
        datastore: { healthy: true, response_time_ms: 2, last_check: NOW },
        cache: { healthy: true, response_time_ms: 0, memory_usage: "42 MiB", age_seconds: 12, last_check: NOW },
        deployer: { healthy: true, applications_synced: 2, last_check: NOW },
      },
      circuit_breakers: [],
      expirations_blocked: false,
    });
  });
});

describe("the status", () => {
  const status = async () => {
    const reply = await service.http.get("/api/status");
    expectPromised(reply, "get", "/api/status");
    return reply.body;
  };

  test("says how old the cache may be that reads are answered from, and that it grows older", async () => {
    service.health.setHealthy("datastore", false);
    service.health.setAge(90_000);
    expect(await status()).toMatchObject({
      status: "unhealthy",
      services: { datastore: { healthy: false }, cache: { healthy: true, age_seconds: 90 } },
    });
  });

  test("has no age to tell before everything was read once", async () => {
    service.health.setAge(Number.POSITIVE_INFINITY);
    expect((await status()).services.cache).not.toHaveProperty("age_seconds");
  });

  test("is degraded without the shared counters, and the platform ready", async () => {
    const counters = memorySharedCounters();
    await service.stop();
    service = await startApiService({ counters });
    expect(await status()).toMatchObject({ status: "healthy", services: { cache: { healthy: true, redis: "up" } } });
    counters.setReachable(false);
    expect(await status()).toMatchObject({ status: "degraded", services: { cache: { healthy: true, redis: "down" } } });
    expect((await service.http.get("/api/ready")).status).toBe(200);
    service.health.setHealthy("deployer", false);
    expect(await status()).toMatchObject({ status: "unhealthy" });
  });
});

describe("the status of blocked expirations", () => {
  const status = async () => {
    const reply = await service.http.get("/api/status");
    expectPromised(reply, "get", "/api/status");
    return reply.body;
  };

  test.each([
    ["closed", "healthy"],
    ["open", "degraded"],
    ["half_open", "degraded"],
  ] as const)("shows a circuit breaker that is %s, and is %s", async (state, expected) => {
    service.health.setCircuitBreakers({ name: "secret-manager/api", state, since: new Date(NOW) });
    const { status: found, circuit_breakers } = await status();
    expect(circuit_breakers).toEqual([{ name: "secret-manager/api", state, since: NOW }]);
    expect(found).toBe(expected);
    expect((await service.http.get("/api/ready")).status).toBe(200);
    service.health.setHealthy("deployer", false);
    expect(await status()).toMatchObject({ status: "unhealthy" });
  });

  test("says that expirations are blocked, which is no fault of the platform", async () => {
    service.health.setExpirationsBlocked(true);
    expect(await status()).toMatchObject({ status: "healthy", expirations_blocked: true });
  });
});

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
    ...[
      "/",
      "/api",
      "/api/",
      "/nowhere",
      "/api/nowhere",
      "/API/health",
      "/api/Health",
      "/api/health//",
      "//api/health",
    ],
    ...["/api/environments/x/y", "/api/v3/health", "/api/v2", "/docs//", "/docs/index.html", "/docs/../package.json"],
    ...["/docs/%2e%2e/package.json", "/api/%2e%2e/api/health", "/api/environments/%2e%2e%2fhealth/logs"],
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
    expect(lines.map(({ facts }) => [facts.method, facts.subject, facts.concerns, facts.status])).toEqual([
      ["POST", `${service.issuer.issuer}#dev`, "noted", 200],
      ["DELETE", `${service.issuer.issuer}#dev`, "noted", 200],
    ]);
  });
});

/** A browser asks for an icon, and finds none, where a page does not say that it has none. */
const NO_ICON = "data:,";

describe("the documentation", () => {
  test("is the checked-in document, in the version of the contract and not of the release", async () => {
    const served = (await service.http.get("/openapi.json")).body;
    const kept = JSON.parse(readFileSync(new URL("../../api/openapi.json", import.meta.url), "utf8"));
    expect(served).toEqual(kept);
    expect(served).toEqual(JSON.parse(JSON.stringify(openApiDocument(listRoutes()))));
    expect(served.info.version).toBe("1.0.0");
  });

  test.each(["", "/some/prefix"])("works as it is below %j, served there by an ingress", async (prefix) => {
    const http = supertest((request: IncomingMessage, response: ServerResponse) => {
      if (!request.url?.startsWith(`${prefix}/`)) return void response.writeHead(404).end();
      request.url = request.url.slice(prefix.length);
      service.app(request, response);
    });
    const followed = async (link: string, from: string) => {
      const { pathname } = new URL(link, `https://host.test${from}`);
      const reply = await http.get(pathname);
      expect({ link, from, status: reply.status }).toEqual({ link, from, status: 200 });
      return { pathname, reply };
    };
    const landing = async (asked: string) => {
      const { status, headers } = await http.get(asked);
      return status === 308 ? new URL(headers.location ?? "", `https://host.test${asked}`).pathname : asked;
    };
    expect(await landing(`${prefix}/openapi.json/`)).toBe(`${prefix}/openapi.json`);
    for (const asked of ["/docs", "/docs/", "/redoc", "/redoc/"]) {
      const page = await landing(`${prefix}${asked}`);
      const links = [...(await http.get(page)).text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link]) => link ?? "");
      const scripts = links.filter((link) => link !== NO_ICON);
      for (const link of scripts) await followed(link, page);
      const start = await followed(scripts.find((link) => link.endsWith("start.js")) ?? "", page);
      const [, named = ""] = /new URL\("([^"]+)", location\)/.exec(start.reply.text) ?? [];
      const document = await followed(named, page);
      const [{ url: server }] = document.reply.body.servers;
      // A path is appended to the server's address as it is: https://spec.openapis.org/oas/v3.1.1.html#server-object.
      expect((await followed(`${server}/api/health`, document.pathname)).reply.body).toMatchObject({
        status: "healthy",
      });
    }
  });

  test.each(["/docs", "/redoc"])("%s loads everything from here, and nothing that stands in the page", async (path) => {
    const page = await service.http.get(path);
    expect(page.status).toBe(200);
    const policy = page.headers["content-security-policy"] ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const loaded = [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url ?? "");
    expect(loaded.length).toBeGreaterThan(1);
    expect(page.text).not.toMatch(/<script>|<script[^>]*>[^<]|style=/);
  });

  test.each([
    ["Range", "bytes=99999999-"],
    ["If-Match", '"x"'],
    ["If-Unmodified-Since", "Mon, 01 Jan 2001 00:00:00 GMT"],
  ])("answers whole whatever %s says, and logs no fault", async (header, value) => {
    for (const path of ["/docs/swagger-ui.css", "/redoc/redoc.standalone.js", "/docs"]) {
      const reply = await service.http.get(path).set(header, value);
      expect({ path, status: reply.status }).toEqual({ path, status: 200 });
    }
    expect(service.log.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("removes the parts of Redoc's script that the policy would block", async () => {
    const script = (await service.http.get("/redoc/redoc.standalone.js")).text;
    expect(script).not.toContain("cdn.redoc.ly");
    expect(script).toContain('r.nc=document.getElementById("redoc").dataset.nonce');
  });

  test("gives Redoc another nonce each time, in page and policy alike", async () => {
    const nonces = new Set<string>();
    for (const page of [await service.http.get("/redoc"), await service.http.get("/redoc")]) {
      const nonce = /data-nonce="([^"]+)"/.exec(page.text)?.[1] ?? "";
      expect(page.headers["content-security-policy"]).toContain(`'nonce-${nonce}'`);
      nonces.add(nonce);
    }
    expect(nonces.size).toBe(2);
  });
});

describe("while the identity provider can't be reached", () => {
  test("a credential is neither accepted nor refused, and the status stays public", async () => {
    const authorization = await service.bearer("developer");
    service.issuer.setReachable(false);
    const reply = await service.http.get("/api/environments").set({ authorization });
    expectProblem(reply, 503, /identity provider/);
    expectPromised(reply, "get", "/api/environments");
    expect((await service.http.get("/api/status").set({ authorization })).status).toBe(200);
  });
});

import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
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

  test("has no age before everything was read once", async () => {
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
  ] as const)("shows a circuit deletionBudget that is %s, and is %s", async (state, expected) => {
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

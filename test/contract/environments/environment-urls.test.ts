import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { aRepository } from "../../support/doubles/memory/repositories.ts";
import { until } from "../../support/fixtures/until.ts";
import { expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, type Person, startApiService } from "../../support/http/api-service.ts";

const BACKEND = "https://shop--api.env.example.test:18443";
const FRONTEND = "https://shop.env.example.test:18443";

let service: ApiService;
beforeEach(async () => {
  service = await startApiService({
    repositories: [
      aRepository("shop-api", { healthPath: "/healthz" }),
      aRepository("shop-web", { type: "frontend", healthPath: "/" }),
    ],
  });
});
afterEach(() => service.stop());

/** An environment that serves its URLs by default. */
async function given(change: Partial<EphemeralEnvironment> = {}): Promise<EphemeralEnvironment> {
  const made = await service.environments.create("shop", {
    backend: { repository: "shop-api", branch: "main" },
    frontend: { repository: "shop-web", branch: "main" },
    access: { groups: ["shop"] },
  });
  const environment = { ...made, status: { urls: { backend: BACKEND, frontend: FRONTEND } }, ...change };
  service.environments.put(environment);
  return environment;
}

async function check(as: Person = "viewer") {
  const authorization = await service.bearer(as);
  const reply = await service.http.get("/api/environments/shop/check-all-urls").set({ authorization });
  expectPromised(reply, "get", "/api/environments/{environment_id}/check-all-urls");
  return reply;
}

test("asks every URL at its health path and answers as the contract has it", async () => {
  const { metadata } = await given();
  service.prober.answer(BACKEND, { status: "healthy", responseTimeMs: 12 });
  const { status, body } = await check();
  expect(status).toBe(200);
  expect(body).toEqual({
    environment_id: metadata.uid,
    status: "healthy",
    details: {
      backend: { url: BACKEND, status: "healthy", response_time_ms: 12 },
      frontend: { url: FRONTEND, status: "healthy", response_time_ms: 7 },
    },
    checked_at: "2026-06-01T12:00:00.500Z",
  });
  expect([...service.prober.requested].sort()).toEqual([`${BACKEND}/healthz`, `${FRONTEND}/`]);
});

test("answers the same within an envelope in version 2", async () => {
  await given();
  const authorization = await service.bearer("viewer");
  const reply = await service.http.get("/api/v2/environments/shop/check-all-urls").set({ authorization });
  expectPromised(reply, "get", "/api/v2/environments/{environment_id}/check-all-urls");
  expect(reply.body).toMatchObject({ status: "success", data: { status: "healthy" } });
});

describe("a further host", () => {
  const ADMIN = "https://shop--admin.env.example.test:18443";
  const status = { urls: { backend: BACKEND, frontend: FRONTEND, hosts: { admin: ADMIN } } };
  const ofVersion = async (version: "" | "/v2") => {
    const authorization = await service.bearer("viewer");
    return service.http.get(`/api${version}/environments/shop/check-all-urls`).set({ authorization });
  };
  beforeEach(() => {
    service.prober.answer(ADMIN, { status: "unhealthy", responseTimeMs: 3 });
  });

  test("is asked at its health path, and counts in version 2", async () => {
    service.repositories.put(aRepository("shop-api", { hosts: [{ name: "admin", healthPath: "/ping" }] }));
    await given({ status });
    const reply = await ofVersion("/v2");
    expectPromised(reply, "get", "/api/v2/environments/{environment_id}/check-all-urls");
    expect(reply.body.data).toMatchObject({
      status: "unhealthy",
      details: {
        backend: { status: "healthy" },
        frontend: { status: "healthy" },
        hosts: { admin: { url: ADMIN, status: "unhealthy", response_time_ms: 3 } },
      },
    });
    expect(service.prober.requested).toContain(`${ADMIN}/ping`);
  });

  test("is asked at its root where its Repository names no path", async () => {
    await given({ status });
    await ofVersion("/v2");
    expect(service.prober.requested).toContain(`${ADMIN}/`);
  });

  test("is not in version 1", async () => {
    await given({ status });
    const { body } = await ofVersion("");
    expect(body.status).toBe("healthy");
    expect(Object.keys(body.details)).toEqual(["backend", "frontend"]);
  });
});

describe("the status of all", () => {
  test.each([
    { name: "healthy only when all are", backend: "healthy", frontend: "healthy", expected: "healthy" },
    { name: "unhealthy when one is", backend: "healthy", frontend: "unhealthy", expected: "unhealthy" },
    { name: "unhealthy when one is unreachable", backend: "unreachable", frontend: "healthy", expected: "unhealthy" },
    { name: "unreachable when none answers", backend: "unreachable", frontend: "unreachable", expected: "unreachable" },
  ] as const)("is $name, and the answer 200", async ({ backend, frontend, expected }) => {
    await given();
    service.prober.answer(BACKEND, { status: backend, responseTimeMs: 1 });
    service.prober.answer(FRONTEND, { status: frontend, responseTimeMs: 1 });
    const { status, body } = await check();
    expect({ status, said: body.status }).toEqual({ status: 200, said: expected });
  });
});

test("an environment without a frontend has no frontend in the answer", async () => {
  const spec = { backend: { repository: "shop-api", branch: "main" }, access: { groups: ["shop"] } };
  await given({ spec, status: { urls: { backend: BACKEND } } });
  expect(Object.keys((await check()).body.details)).toEqual(["backend"]);
});

test("nothing is asked before the environment has URLs: they are unreachable", async () => {
  await given({ status: {} });
  expect((await check()).body).toMatchObject({
    status: "unreachable",
    details: { backend: { url: BACKEND, status: "unreachable", response_time_ms: 0 } },
  });
  expect(service.prober.requested).toEqual([]);
});

describe("refused to abuse", () => {
  test("a URL that an event planted: only those of the environment's status are asked", async () => {
    await given();
    const event = {
      event_type: "ready",
      environment_name: "shop",
      urls: { backend: "https://169.254.169.254/", frontend: "http://10.0.0.1/" },
    };
    await service.http.post("/api/webhooks/environment/event").send(event);
    await check();
    for (const url of service.prober.requested)
      expect(url).toMatch(/^https:\/\/shop(--api)?\.env\.example\.test:18443\//);
  });

  test("a flood: each URL is probed once in ten seconds, for all callers together", async () => {
    await given();
    const release = service.prober.hold();
    const checks = (["viewer", "developer", "maintainer"] as const).map((person) => check(person));
    await until(() => service.prober.requested.length >= 2, { what: "the first probes" });
    release();
    const [first, ...others] = await Promise.all(checks);
    for (const { body } of others) expect(body).toEqual(first?.body);
    service.clock.advance(9_999);
    expect((await check()).body).toEqual(first?.body);
    expect(service.prober.requested).toHaveLength(2);

    service.clock.advance(1);
    expect((await check()).body.checked_at).toBe("2026-06-01T12:00:10.500Z");
    expect(service.prober.requested).toHaveLength(4);
  });

  test("an answer about a former environment of the name", async () => {
    await given();
    await check();
    service.environments.finishRemoval("shop");
    const { metadata } = await given();
    expect((await check()).body.environment_id).toBe(metadata.uid);
    expect(service.prober.requested).toHaveLength(4);
  });
});

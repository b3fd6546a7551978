import { beforeEach, describe, expect, test } from "@jest/globals";
import { shapeOf } from "../../support/http/shape-of.ts";
import { specifiedCalls, URLS, withFrontend } from "./specified-calls.ts";

const api = specifiedCalls();
const { call, create, made } = api;

describe("GET /api/environments", () => {
  beforeEach(async () => {
    for (const name of ["one", "two", "three"]) {
      await create({ ...withFrontend, environment_name: `shop-${name}` });
      api.service.clock.advance(60_000);
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
    api.authorization = await api.service.bearer("stranger");
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

describe("GET /api/environments/{environment_id}/logs/{component}", () => {
  const write = (count: number) => {
    const at = new Date(Date.now() - 45 * 60_000);
    for (let line = 1; line <= count; line++) {
      api.service.podLogs.write("feature-test", "backend", { at, text: `line ${line}` });
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
  const environment = await api.service.environments.find(id);
  if (environment === undefined) throw new Error("not made");
  const urls = { backend: "https://b.example.test", frontend: "https://f.example.test" };
  api.service.environments.put({ ...environment, status: { phase: "ready", urls } });
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

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { expectProblem } from "../../support/http/api-promises.ts";
import { type ApiService, startApiService } from "../../support/http/api-service.ts";

/** A foreign web page in the settings, and its calls from a browser. */
const CONSOLE = "https://console.example.test";
const LOCAL = "http://localhost:5173";
const LIMIT = 6;

let service: ApiService;
let authorization: string;
beforeAll(async () => {
  service = await startApiService({
    api: { corsOrigins: [CONSOLE, LOCAL], trustedProxyHops: 1, limits: { unauthenticatedPerMinute: LIMIT } },
  });
  authorization = await service.bearer("developer");
});
afterAll(() => service.stop());

let addresses = 0;
/** A new address with its whole budget. */
const newAddress = () => ({ "x-forwarded-for": `192.0.2.${++addresses}` });
const preflight = (path: string, origin: string, from = newAddress()) =>
  service.http.options(path).set({
    ...from,
    origin,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type",
  });
const accessHeaders = (headers: Readonly<Record<string, string>>) =>
  Object.keys(headers).filter((name) => name.startsWith("access-control"));
const listOf = (header = "") => header.split(", ");

describe("a page of a listed origin", () => {
  test.each([CONSOLE, LOCAL])("may ask first and then call: %s", async (origin) => {
    const requested = await preflight("/api/environments", origin);
    expect([requested.status, requested.text]).toEqual([204, ""]);
    expect(requested.headers).toMatchObject({ "access-control-allow-origin": origin, vary: "Origin" });
    expect(listOf(requested.headers["access-control-allow-methods"])).toEqual(
      expect.arrayContaining(["GET", "POST", "PUT", "PATCH", "DELETE"]),
    );
    expect(listOf(requested.headers["access-control-allow-headers"]).sort()).toEqual(
      ["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "X-Request-ID"], //
    );
    const called = await service.http.get("/api/environments").set({ origin, authorization });
    expect(called.status).toBe(200);
    expect(called.headers).toMatchObject({ "access-control-allow-origin": origin, vary: "Origin" });
    expect(listOf(called.headers["access-control-expose-headers"])).toEqual(
      expect.arrayContaining([
        "X-Request-ID",
        "X-RateLimit-Limit",
        "X-RateLimit-Remaining",
        "X-RateLimit-Reset",
        "Retry-After",
        "Allow",
      ]),
    );
  });

  test.each([
    ["a missing credential", () => service.http.get("/api/environments"), 401],
    ["a refused body", () => service.http.post("/api/environments").set({ authorization }).send({}), 400],
    ["a path that is not there", () => service.http.get("/nowhere"), 404],
    ["a path that can't be decoded", () => service.http.get("/api/environments/%zz"), 400],
    ["another method", () => service.http.patch("/api/environments"), 405],
    ["a webhook", () => service.http.post("/api/webhooks/generic").send({}), 200],
    ["an asset", () => service.http.get("/docs/start.js"), 200],
  ])("may read the answer to %s", async (_case, call, status) => {
    const reply = await call().set({ ...newAddress(), origin: CONSOLE });
    expect(reply.status).toBe(status);
    expect(reply.headers).toMatchObject({ "access-control-allow-origin": CONSOLE, vary: "Origin" });
  });

  test("may read when to go on beyond a limit, and spends nothing by asking first", async () => {
    const from = newAddress();
    for (let count = 0; count < 3 * LIMIT; count += 1) {
      expect((await preflight("/api/environments", CONSOLE, from)).status).toBe(204);
    }
    const call = () => service.http.get("/api/status").set({ ...from, origin: CONSOLE });
    expect((await call()).headers["x-ratelimit-remaining"]).toBe(`${LIMIT - 1}`);
    for (let count = 1; count < LIMIT; count += 1) expect((await call()).status).toBe(200);
    const over = await call();
    expectProblem(over, 429);
    expect(over.headers).toMatchObject({
      "access-control-allow-origin": CONSOLE,
      "retry-after": expect.stringMatching(/^\d+$/),
    });
  });

  test("has to name the requested method: OPTIONS alone is a method that the path does not have", async () => {
    const reply = await service.http.options("/api/environments").set({ ...newAddress(), origin: CONSOLE });
    expectProblem(reply, 405);
  });
});

describe("a page of any other origin (abuse 111)", () => {
  test.each([
    "https://evil.example",
    "null",
    "*",
    `${CONSOLE}.evil.example`,
    `${CONSOLE}:8443`,
    CONSOLE.replace("https", "http"),
    CONSOLE.toUpperCase(),
    `${CONSOLE}/`,
    `${CONSOLE}, ${CONSOLE}`,
    "http://localhost",
    "",
  ])("gets no leave, and its questions spend its address's budget: %j", async (origin) => {
    const from = newAddress();
    for (const reply of [
      await preflight("/api/environments", origin, from),
      await service.http.get("/api/environments").set({ ...from, origin, authorization }),
    ]) {
      expect([405, 200]).toContain(reply.status);
      expect(accessHeaders(reply.headers)).toEqual([]);
      expect(reply.headers.vary).toBe("Origin");
    }
    for (let count = 1; count < LIMIT; count += 1) await preflight("/nowhere", origin, from);
    expect((await preflight("/nowhere", origin, from)).status).toBe(429);
  });

  test("is never allowed with cookies, for any origin", async () => {
    for (const origin of [CONSOLE, "https://evil.example"]) {
      for (const reply of [
        await preflight("/api/health", origin),
        await service.http.get("/api/health").set({ origin }),
      ])
        expect(reply.headers).not.toHaveProperty("access-control-allow-credentials");
    }
  });
});

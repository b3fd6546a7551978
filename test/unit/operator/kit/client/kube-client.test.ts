import { describe, expect, jest, test } from "@jest/globals";
import { isUnavailable } from "../../../../../operator/kit/client/errors.ts";
import { json, reset, silence, startFakeApiServer, status } from "../../../../support/doubles/fake-api-server.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { type ConfigMap, configMap, configMapList, configMaps } from "../../../../support/fixtures/config-maps.ts";
import { until } from "../../../../support/fixtures/until.ts";
import { anything, failureOf, kubeClients, ref } from "./kube-clients.ts";

// Longer than the deadlines of inner waits.
jest.setTimeout(30_000);

const world = kubeClients();
const { client } = world;

describe("find", () => {
  test("answers the object, authenticated and named", async () => {
    world.server.on(anything, json(configMap("a", "1")));
    expect(await client({ userAgent: "tester/2" }).find(configMaps, ref)).toEqual(configMap("a", "1"));
    expect(world.server.seen[0]).toMatchObject({ method: "GET", path: "/api/v1/namespaces/ns/configmaps/a" });
    expect(world.server.seen[0]?.headers).toMatchObject({ authorization: "Bearer a-token", "user-agent": "tester/2" });
  });

  test("answers undefined when there is none", async () => {
    world.server.on(anything, status(404, "NotFound"));
    expect(await client().find(configMaps, ref)).toBeUndefined();
  });

  test.each([
    { name: "503", answer: status(503, "ServiceUnavailable") },
    { name: "429", answer: status(429, "TooManyRequests") },
    { name: "a reset connection", answer: reset },
    { name: "a 401, once", answer: status(401, "Unauthorized") },
  ])("is tried again after $name", async ({ answer }) => {
    world.server.on(anything, answer, json(configMap("a", "1")));
    expect(await client().find(configMaps, ref)).toBeDefined();
    expect(world.server.seen).toHaveLength(2);
  });

  test("waits as long as the server asks before the next try", async () => {
    const clock = new TestClock();
    world.server.on(anything, status(429, "TooManyRequests", { "retry-after": "7" }), json(configMap("a", "1")));
    const found = client({ clock }).find(configMaps, ref);
    await until(() => clock.pending.includes(7_000));
    expect(world.server.seen).toHaveLength(1);
    clock.advance(7_000);
    expect(await found).toBeDefined();
  });

  test("gives up at once when the server asks for more than the deadline leaves", async () => {
    world.server.on(anything, status(429, "TooManyRequests", { "retry-after": "60" }));
    const error = await failureOf(client().find(configMaps, ref));
    expect(error).toMatchObject({ status: 429, retryAfterSeconds: 60 });
    expect(world.server.seen).toHaveLength(1);
  });

  test("gives up after four tries", async () => {
    world.server.on(anything, status(503, "ServiceUnavailable"));
    expect(isUnavailable(await failureOf(client().find(configMaps, ref)))).toBe(true);
    expect(world.server.seen).toHaveLength(4);
  });

  test("ends at its deadline when no answer comes", async () => {
    const clock = new TestClock();
    world.server.on(anything, silence);
    const error = failureOf(client({ clock, deadlineMs: 1_000 }).find(configMaps, ref));
    await until(() => world.server.seen.length === 1);
    clock.advance(1_000);
    expect(await error).toMatchObject({ status: 0, reason: "Timeout" });
    expect(clock.pending).toEqual([]);
  });

  test("ends with the caller's signal", async () => {
    const caller = new AbortController();
    world.server.on(anything, silence);
    const error = failureOf(client().find(configMaps, ref, { signal: caller.signal }));
    await until(() => world.server.seen.length === 1);
    caller.abort();
    expect(await error).toMatchObject({ status: 0, reason: "Aborted" });
    expect(isUnavailable(await error)).toBe(false);
  });

  test("reports a server that is not there as unreachable", async () => {
    const unreached = client();
    await world.server.close();
    const error = await failureOf(unreached.find(configMaps, ref));
    expect(error).toMatchObject({ status: 0, reason: "Unreachable" });
    expect(error.cause).toMatchObject({ code: "ECONNREFUSED" });
    world.server = await startFakeApiServer();
  });

  test("an answer that is no JSON is broken, and is not quoted", async () => {
    world.server.on(anything, (_request, response) => response.end("{ secret"));
    const error = await failureOf(client().find(configMaps, ref));
    expect(error.reason).toBe("BrokenAnswer");
    expect(JSON.stringify([error, error.message, String(error.cause)])).not.toContain("secret");
  });
});

describe("list", () => {
  test("keeps the selected part of every object", async () => {
    world.server.on(anything, json(configMapList([configMap("a", "1", { data: { large: "x" } })], "9")));
    const keep = ({ data: _, ...object }: ConfigMap) => object;
    expect((await client().list(configMaps, { keep })).items).toEqual([configMap("a", "1")]);
  });

  test("gathers all pages and names the kind of every item", async () => {
    const { apiVersion: _a, kind: _k, ...bare } = configMap("a", "1");
    world.server.on((request) => !request.query.has("continue"), json(configMapList([bare as never], "9", "more")));
    world.server.on(
      (request) => request.query.get("continue") === "more",
      json(configMapList([configMap("b", "2")], "9")),
    );
    const list = await client().list(configMaps, { namespace: "ns", labelSelector: "x=y" });
    expect(list).toEqual({ items: [configMap("a", "1"), configMap("b", "2")], resourceVersion: "9" });
    expect(world.server.seen.map(({ query }) => [query.get("limit"), query.get("labelSelector")])).toEqual([
      ["100", "x=y"],
      ["100", "x=y"],
    ]);
  });

  test("starts again when a page token has expired", async () => {
    const first = json(configMapList([configMap("a", "1")], "9", "more"));
    world.server.on((request) => request.query.has("continue"), status(410, "Expired"), json(configMapList([], "10")));
    world.server.on(anything, first);
    expect((await client().list(configMaps)).items).toEqual([configMap("a", "1")]);
    expect(world.server.seen).toHaveLength(4);
  });
});

test("the server's time is its own", async () => {
  world.server.on(anything, json({ major: "1" }, 200, { date: "Thu, 01 Jan 2026 00:00:00 GMT" }));
  expect(await client().serverTime()).toEqual(new Date("2026-01-01T00:00:00Z"));
});

test("connections are reused", async () => {
  world.server.on(anything, json(configMap("a", "1")));
  const pooled = client({ connections: 2 });
  for (let call = 0; call < 10; call += 1) await pooled.find(configMaps, ref);
  expect(world.server.openConnections).toBeLessThanOrEqual(2);
});

test("a deletion with preconditions leaves its connection to the next call", async () => {
  world.server.on(anything, json(configMap("a", "1")));
  const pooled = client({ connections: 1 });
  for (let call = 0; call < 5; call += 1) await pooled.delete(configMaps, ref, { uid: "uid" });
  expect(world.server.connectionsSoFar).toBe(1);
});

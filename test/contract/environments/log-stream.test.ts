import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { LAST_ACTIVITY_ANNOTATION } from "../../../crds/group.ts";
import { until } from "../../support/fixtures/until.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { logFollowers, messagesOf, PATH } from "./log-followers.ts";
import { untilCame } from "./stream-followers.ts";

const logs = logFollowers();
const { write, follow } = logs;

async function ask(path: string, headers: object = {}) {
  return logs.service.http.get(path).set({ authorization: await logs.service.bearer("viewer"), ...headers });
}

describe("a caller who follows a log", () => {
  test("gets the newest lines and then every new one, as events of log entries", async () => {
    for (const text of ["too old", "one", '{"level":"error","msg":"two"}']) write(text);
    const reader = await follow("?lines=2");
    expect(reader.status).toBe(200);
    expect(reader.headers.get("content-type")).toMatch(/^text\/event-stream/);
    expect(reader.headers.get("cache-control")).toBe("no-store");
    await untilCame(reader, 2);
    write("three");
    await untilCame(reader, 3);
    expect(reader.events).toEqual([
      { id: expect.any(String), data: { timestamp: expect.any(String), level: "INFO", message: "one" } },
      { id: expect.any(String), data: { timestamp: expect.any(String), level: "ERROR", message: "two" } },
      { id: expect.any(String), data: { timestamp: expect.any(String), level: "INFO", message: "three" } },
    ]);
  });

  test("goes on after the last event that it has", async () => {
    write("known", new Date("2026-06-01T12:00:00.000Z"));
    const first = await follow();
    await untilCame(first, 1);
    first.leave();
    write("missed", new Date("2026-06-01T12:00:00.001Z"));
    const second = await follow("", { "last-event-id": first.events[0]?.id });
    await untilCame(second, 1);
    expect(messagesOf(second)).toEqual(["missed"]);
  });

  test("gets the lines of the workload that was asked for alone", async () => {
    const redis = { kind: "StatefulSet", name: "redis", ready: 1, restarts: 0, images: [] };
    logs.service.workloads.put("shop", redis);
    write("of the backend");
    logs.service.podLogs.write("shop", "StatefulSet/redis", { at: new Date(), text: "one" });
    const reader = await follow("?workload=redis");
    await untilCame(reader, 1);
    logs.service.podLogs.write("shop", "StatefulSet/redis", { at: new Date(), text: "two" });
    await untilCame(reader, 2);
    expect(messagesOf(reader)).toEqual(["one", "two"]);
  });

  test("hears every 15 seconds that the stream lives", async () => {
    const reader = await follow();
    await until(() => logs.service.podLogs.followers === 1);
    for (const count of [1, 2]) {
      logs.service.clock.advance(15_000);
      await until(() => reader.comments === count, { what: `comment ${count}` });
    }
    expect(reader.events).toEqual([]);
  });

  test("keeps the environment awake every four minutes", async () => {
    const { environments, clock, podLogs } = logs.service;
    const environment = await environments.find("shop");
    if (environment === undefined) throw new Error("no shop");
    const sleep = { state: "awake", since: "2026-06-01T17:00:00Z", afterIdleMinutes: 60 } as const;
    environments.put({ ...environment, status: { phase: "ready", sleep } });
    const seenAt = async () => (await environments.find("shop"))?.metadata.annotations?.[LAST_ACTIVITY_ANNOTATION];
    const reader = await follow();
    await until(() => podLogs.followers === 1);
    expect(await seenAt()).toBe(clock.now().toISOString());
    clock.advance(4 * 60_000);
    const later = clock.now().toISOString();
    await until(async () => (await seenAt()) === later, { what: "the second record" });
    reader.leave();
    await until(() => podLogs.followers === 0, { what: "the end" });
    clock.advance(4 * 60_000);
    expect(await seenAt()).toBe(later);
  });

  test("is followed no longer when it leaves", async () => {
    const reader = await follow();
    await until(() => logs.service.podLogs.followers === 1);
    reader.leave();
    await until(() => logs.service.podLogs.followers === 0, { what: "the end" });
  });
});

describe("refused to abuse", () => {
  test("a stream more than a caller may have, until one has ended; others have theirs", async () => {
    for (let stream = 0; stream < 20; stream += 1) await follow();
    const refused = await ask(PATH);
    expectProblem(refused, 429, /20 streams/);
    expectPromised(refused, "get", PATH.replace("shop", "{environment_id}").replace("backend", "{component}"));
    expect((await follow("", {}, "developer")).status).toBe(200);
    logs.readers[0]?.leave();
    await until(() => logs.service.podLogs.followers === 20, { what: "the end of the first" });
    expect((await follow()).status).toBe(200);
  });

  test("a caller who reads nothing: no more is produced than the connection takes, and after a minute it is cut", async () => {
    const { hostname, port } = new URL(logs.base);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => undefined);
    await once(socket, "connect");
    socket.pause();
    socket.write(`GET ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: ${await logs.service.bearer("viewer")}\r\n\r\n`);
    await until(() => logs.service.podLogs.followers === 1);
    for (let line = 0; line < 1_000; line += 1) write("x".repeat(16_000));
    await until(
      () => {
        write("more");
        logs.service.clock.advance(1_000);
        return logs.service.podLogs.followers === 0;
      },
      { what: "the end", deadlineMs: 20_000 },
    );
    socket.destroy();
  }, 30_000);

  test.each([
    ["of none of its events", "nonsense"],
    ["of SQL", "1' OR '1'='1"],
    ["of a moment that is none", "2026-99-01T00:00:00.000000000Z"],
  ])("an id %s", async (_what, id) => {
    expectProblem(await ask(PATH, { "last-event-id": id }), 400, /^Last-Event-ID: must be the id of an event/);
  });

  test.each(["argocd", "x", "..%2fbackend"])("a component that can't be followed: %s", async (component) => {
    expectProblem(await ask(PATH.replace("backend", component)), 400, /^component: /);
  });

  test("a component that the environment lacks, and version 1", async () => {
    expectProblem(await ask(PATH.replace("backend", "frontend")), 404, "The environment has no frontend");
    expectProblem(await ask(PATH.replace("/v2", "")), 404, "Not found");
  });

  test("a stream of unreadable logs: it is an error, not an empty stream", async () => {
    logs.service.podLogs.setReachable(false);
    expectProblem(await ask(PATH), 503, /Kubernetes API/);
  });

  test("a stream while the service stops", async () => {
    logs.service.stopping.abort();
    expectProblem(await ask(PATH), 503, /stopping/);
  });

  test("a HEAD that would never end", async () => {
    const authorization = await logs.service.bearer("viewer");
    const reply = await logs.service.http.head(PATH).set({ authorization });
    expect(reply.status).toBe(200);
    await until(() => logs.service.podLogs.followers === 0, { what: "the end" });
  });
});

test("following a log is recorded when it begins", async () => {
  await follow();
  await until(() => logs.service.audit.records.some(({ action }) => action === "followLogs"), { what: "the record" });
  const [record] = logs.service.audit.records.filter(({ action }) => action === "followLogs");
  expect(record).toMatchObject({ event: "read", target: "shop", outcome: "accepted", status: 200 });
});

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { startServer } from "../../../api/http/server.ts";
import { silentLog } from "../../../operator/kit/log.ts";
import { systemClock } from "../../../operator/kit/time/clock.ts";
import { until } from "../../support/fixtures/until.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, type Person, startApiService } from "../../support/http/api-service.ts";
import { type EventReader, readEvents } from "../../support/plane/event-reader.ts";

const PATH = "/api/v2/environments/shop/logs/backend/stream";

let service: ApiService;
let server: Server;
let base: string;
let readers: EventReader[];
beforeEach(async () => {
  service = await startApiService();
  await service.environments.create("shop", {
    backend: { repository: "shop-api", branch: "main" },
    access: { groups: ["shop"] },
  });
  service.podLogs.holdFollowers();
  readers = [];
  server = createServer(service.app).listen(0, "127.0.0.1");
  await once(server, "listening");
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  for (const reader of readers) reader.leave();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  await until(() => service.podLogs.followers === 0, { what: "the end of every follower" });
  await service.stop();
});

const write = (text: string, at = new Date()) => service.podLogs.write("shop", "backend", { at, text });

async function follow(query = "", headers: object = {}, as: Person = "viewer"): Promise<EventReader> {
  const reader = await readEvents(`${base}${PATH}${query}`, { authorization: await service.bearer(as), ...headers });
  readers.push(reader);
  return reader;
}

async function ask(path: string, headers: object = {}) {
  return service.http.get(path).set({ authorization: await service.bearer("viewer"), ...headers });
}

const messagesOf = ({ events }: EventReader) => events.map(({ data }) => (data as { message: string }).message);
const untilCame = (reader: EventReader, count: number) =>
  until(() => reader.events.length === count, { what: `${count} events` });

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

  test("hears every 15 seconds that the stream lives", async () => {
    const reader = await follow();
    await until(() => service.podLogs.followers === 1);
    for (const count of [1, 2]) {
      service.clock.advance(15_000);
      await until(() => reader.comments === count, { what: `comment ${count}` });
    }
    expect(reader.events).toEqual([]);
  });

  test("is followed no longer when it leaves", async () => {
    const reader = await follow();
    await until(() => service.podLogs.followers === 1);
    reader.leave();
    await until(() => service.podLogs.followers === 0, { what: "the end" });
  });
});

describe("a stream ends", () => {
  const ends: readonly { name: string; how: () => unknown; by?: "ended" | "cut" }[] = [
    { name: "when the service stops", how: () => service.stopping.abort() },
    { name: "after half an hour", how: () => service.clock.advance(30 * 60_000) },
    {
      name: "with the environment",
      how: () => {
        service.environments.finishRemoval("shop");
        write("after its end");
      },
    },
    {
      name: "when the environment is another's",
      how: async () => {
        const shop = await service.environments.find("shop");
        if (shop !== undefined) service.environments.put({ ...shop, spec: { ...shop.spec, access: { groups: [] } } });
        write("for others");
      },
    },
  ];
  test.each(ends)("$name, and tells nothing more", async ({ how }) => {
    write("one");
    const reader = await follow();
    await untilCame(reader, 1);
    await how();
    expect(await reader.end).toBe("ended");
    expect(messagesOf(reader)).toEqual(["one"]);
  });

  test("with the proof of the caller", async () => {
    write("one");
    const reader = await readEvents(`${base}${PATH}`, {
      authorization: await service.bearer("viewer", { exp: Math.floor(service.clock.now().getTime() / 1000) + 60 }),
    });
    readers.push(reader);
    await untilCame(reader, 1);
    service.clock.advance(10_000);
    write("two");
    await untilCame(reader, 2);
    service.clock.advance(120_000);
    write("three");
    expect(await reader.end).toBe("cut");
    expect(messagesOf(reader)).toEqual(["one", "two"]);
  });

  test("within a second of the revocation of its API token", async () => {
    write("one");
    const { token, id } = await revocable();
    const reader = await readEvents(`${base}${PATH}`, { authorization: `Bearer ${token}` });
    readers.push(reader);
    await untilCame(reader, 1);
    await service.http.delete(`/api/tokens/${id}`).set({ authorization: await service.bearer("developer") });
    service.clock.advance(1_000);
    write("after the revocation");
    expect(await reader.end).toBe("cut");
    expect(messagesOf(reader)).toEqual(["one"]);
  });

  test("within a second of a revocation on another replica, and tells nothing that comes after it", async () => {
    write("one");
    const { token, id } = await revocable();
    const reader = await readEvents(`${base}${PATH}`, { authorization: `Bearer ${token}` });
    readers.push(reader);
    await untilCame(reader, 1);
    service.apiTokens.setWatching(false);
    service.clock.advance(1_000);
    await service.http.get("/api/environments").set({ authorization: `Bearer ${token}` });
    const made = await service.apiTokens.read(id);
    if (made === undefined) throw new Error("not made");
    service.apiTokens.elsewhere(made, { revokedAt: service.clock.now().toISOString() });
    service.clock.advance(999);
    write("two");
    await untilCame(reader, 2);
    service.clock.advance(999);
    write("after the revocation");
    expect(await reader.end).toBe("cut");
    expect(messagesOf(reader)).toEqual(["one", "two"]);
  });

  test("with the rights of the caller, also when it has nothing to tell, and writes no stack to the console", async () => {
    const told = jest.spyOn(console, "error").mockImplementation(() => undefined);
    service.app.set("env", "production");
    const { token, id } = await revocable();
    const reader = await readEvents(`${base}${PATH}`, { authorization: `Bearer ${token}` });
    readers.push(reader);
    await until(() => service.podLogs.followers === 1);
    await service.http.delete(`/api/tokens/${id}`).set({ authorization: await service.bearer("developer") });
    service.clock.advance(1_000);
    expect(await reader.end).toBe("cut");
    expect(told).not.toHaveBeenCalled();
    told.mockRestore();
  });

  test("before the stopping server is closed, so that it has no stream to wait for", async () => {
    const stopping = service.stopping;
    const api = await startServer(service.app, {
      host: "127.0.0.1",
      port: 0,
      clock: systemClock,
      log: silentLog,
      stopping,
    });
    const authorization = await service.bearer("viewer");
    const reader = await readEvents(`${api.url}${PATH}`, { authorization });
    readers.push(reader);
    await until(() => service.podLogs.followers === 1);
    await api.stop({ graceMs: 60_000 });
    expect(await reader.end).toBe("ended");
  });
});

async function revocable() {
  const authorization = await service.bearer("developer");
  const made = await service.http
    .post("/api/tokens")
    .set({ authorization })
    .send({ name: "ci", scopes: ["ENV_READ"] });
  return made.body.data as { token: string; id: string };
}

describe("refused to abuse", () => {
  test("a sixth stream of one caller, until one has ended; others have theirs", async () => {
    for (let stream = 0; stream < 5; stream += 1) await follow();
    const refused = await ask(PATH);
    expectProblem(refused, 429, /5 streams/);
    expectPromised(refused, "get", PATH.replace("shop", "{environment_id}").replace("backend", "{component}"));
    expect((await follow("", {}, "developer")).status).toBe(200);
    readers[0]?.leave();
    await until(() => service.podLogs.followers === 5, { what: "the end of the first" });
    expect((await follow()).status).toBe(200);
  });

  test("a caller who reads nothing: no more is produced than the connection takes, and after a minute it is cut", async () => {
    const { hostname, port } = new URL(base);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => undefined);
    await once(socket, "connect");
    socket.pause();
    socket.write(`GET ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: ${await service.bearer("viewer")}\r\n\r\n`);
    await until(() => service.podLogs.followers === 1);
    for (let line = 0; line < 1_000; line += 1) write("x".repeat(16_000));
    await until(
      () => {
        write("more");
        service.clock.advance(1_000);
        return service.podLogs.followers === 0;
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
    service.podLogs.setReachable(false);
    expectProblem(await ask(PATH), 503, /Kubernetes API/);
  });

  test("a stream while the service stops", async () => {
    service.stopping.abort();
    expectProblem(await ask(PATH), 503, /stopping/);
  });

  test("a HEAD that would never end", async () => {
    const authorization = await service.bearer("viewer");
    const reply = await service.http.head(PATH).set({ authorization });
    expect(reply.status).toBe(200);
    await until(() => service.podLogs.followers === 0, { what: "the end" });
  });
});

test("following a log is recorded when it begins", async () => {
  await follow();
  await until(() => service.audit.records.some(({ action }) => action === "followLogs"), { what: "the record" });
  const [record] = service.audit.records.filter(({ action }) => action === "followLogs");
  expect(record).toMatchObject({ event: "read", concerns: "shop", outcome: "accepted", status: 200 });
});

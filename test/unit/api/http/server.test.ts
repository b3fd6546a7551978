import { once } from "node:events";
import { afterEach, describe, expect, test } from "@jest/globals";
import express from "express";
import { type ApiServer, startServer } from "../../../../api/http/server.ts";
import { type Clock, systemClock } from "../../../../operator/kit/time/clock.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import { silentLog } from "../../../support/fixtures/silent-log.ts";
import { until } from "../../../support/fixtures/until.ts";
import { rawConnection } from "../../../support/http/raw-connection.ts";

const servers: ApiServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop({ graceMs: 0 })));
});

/** A server with a slow route, whose requests end when the test says so. */
async function start(clock: Clock = systemClock) {
  const stopping = new AbortController();
  const waiting: (() => void)[] = [];
  const app = express();
  app.get("/fast", (_request, response) => void response.json({ stopping: stopping.signal.aborted }));
  app.get("/slow", (_request, response) => void waiting.push(() => response.json({})));
  const server = await startServer(app, { host: "127.0.0.1", port: 0, clock, log: silentLog, stopping });
  servers.push(server);
  return { server, waiting, stopping };
}

function connection(url: string) {
  const raw = rawConnection(url);
  return { ...raw, get: (path: string) => raw.socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`) };
}

describe("the server", () => {
  test("says where it listens, and rejects an address that is taken", async () => {
    const { server } = await start();
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(`${server.url}/fast`)).status).toBe(200);
    const again = startServer(express(), {
      host: "127.0.0.1",
      port: Number(new URL(server.url).port),
      clock: systemClock,
      log: silentLog,
      stopping: new AbortController(),
    });
    await expect(again).rejects.toMatchObject({ code: "EADDRINUSE" });
  });

  test("ends readiness first, finishes requests under way, and closes kept connections", async () => {
    const { server, waiting, stopping } = await start();
    const busy = connection(server.url);
    busy.get("/slow");
    const idle = connection(server.url);
    idle.get("/fast");
    await until(() => waiting.length === 1 && idle.seen.text.includes("{"), { what: "both requests" });

    let isStopped = false;
    const stopped = server.stop({ graceMs: 60_000 }).then(() => {
      isStopped = true;
    });
    expect(stopping.signal.aborted).toBe(true);
    await until(() => idle.seen.isClosed, { what: "the idle connection's end" });
    expect(isStopped).toBe(false);
    expect(busy.seen.isClosed).toBe(false);

    waiting[0]?.();
    await stopped;
    await until(() => busy.seen.isClosed, { what: "the busy connection's end" });
    expect(busy.seen.text).toContain("200 OK");
  });

  test("cuts requests that are still under way after the grace", async () => {
    const { server, waiting } = await start();
    const busy = connection(server.url);
    busy.get("/slow");
    await until(() => waiting.length === 1, { what: "the request" });
    await server.stop({ graceMs: 10 });
    await until(() => busy.seen.isClosed, { what: "the connection's end" });
    expect(busy.seen.text).toBe("");
  });

  test("does not wait for connections that sent no byte, or only a part of a head", async () => {
    const { server } = await start();
    const silent = connection(server.url);
    const slow = connection(server.url);
    slow.socket.write("GET /fast HTTP/1.1\r\nHost:");
    await Promise.all([once(silent.socket, "connect"), once(slow.socket, "connect")]);
    expect((await fetch(`${server.url}/fast`)).status).toBe(200);
    const startedMs = systemClock.monotonicMs();
    await server.stop({ graceMs: 5_000 });
    expect(systemClock.monotonicMs() - startedMs).toBeLessThan(2_500);
    await until(() => silent.seen.isClosed && slow.seen.isClosed, { what: "both connections' end" });
  });

  test("serves as before while it settles", async () => {
    const clock = new TestClock();
    const { server, stopping } = await start(clock);
    const stopped = server.stop({ settleMs: 200, graceMs: 1_000 });
    expect(stopping.signal.aborted).toBe(true);
    expect(await (await fetch(`${server.url}/fast`)).json()).toEqual({ stopping: true });
    clock.advance(200);
    await stopped;
    await expect(fetch(`${server.url}/fast`)).rejects.toThrow();
  });

  test("ends kept connections with their next answer while it settles, so that none is cut in front of a request", async () => {
    const clock = new TestClock();
    const { server } = await start(clock);
    const { get, seen } = connection(server.url);
    get("/fast");
    await until(() => seen.text.includes('"stopping":false'), { what: "the first answer" });
    const stopped = server.stop({ settleMs: 200, graceMs: 1_000 });
    get("/fast");
    const isAnswered = () => seen.text.includes('"stopping":true');
    await until(isAnswered, { what: "the second answer" }).finally(() => clock.advance(200));
    expect(seen.text).toMatch(/Connection: close\r\n(.*\r\n)*\r\n.*"stopping":true/);
    await stopped;
  });

  test("serves on while requests still come, three times as long as it settles at most", async () => {
    const clock = new TestClock();
    const { server } = await start(clock);
    let isStopped = false;
    const stopped = server.stop({ settleMs: 5_000, graceMs: 1_000 }).then(() => {
      isStopped = true;
    });
    for (let second = 0; second < 14; second += 1) {
      expect((await fetch(`${server.url}/fast`)).status).toBe(200);
      clock.advance(999);
    }
    expect(isStopped).toBe(false);
    // The maximum time is over, although the last request came less than a second ago.
    clock.advance(15_000 - 14 * 999);
    await stopped;
    await expect(fetch(`${server.url}/fast`)).rejects.toThrow();
  });

  test("answers what came while its process had no processor, before it concludes that nothing comes", async () => {
    const { server } = await start();
    const { get, seen } = connection(server.url);
    get("/fast");
    await until(() => seen.text.includes('"stopping":false'), { what: "the first answer" });
    // From here the event loop runs its timers before it reads new input.
    await new Promise((resolve) => setImmediate(resolve));
    const stopped = server.stop({ settleMs: 50, graceMs: 1_000 });
    get("/fast");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    await stopped;
    await until(() => seen.isClosed, { what: "the connection's end" });
    expect(seen.text).toContain('"stopping":true');
  });

  test.each([
    "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    "nonsense\r\n\r\n",
    "GET / HTTP/1.1\r\n\r\n",
  ])("refuses %j and closes", async (head) => {
    const { server } = await start();
    const { socket, seen } = connection(server.url);
    socket.write(head);
    await until(() => seen.isClosed, { what: "the connection's end" });
    expect(seen.text).toMatch(/^HTTP\/1\.1 400 /);
  });
});

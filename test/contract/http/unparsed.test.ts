import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type ApiServer, startServer } from "../../../api/http/server.ts";
import { systemClock } from "../../../operator/kit/time/clock.ts";
import { expectProblem } from "../../support/http/api-promises.ts";
import { type ApiService, type LogLine, recordingLog, startApiService } from "../../support/http/api-service.ts";
import { type RawConnection, rawConnection } from "../../support/http/raw-connection.ts";

/** The API behind its own server, with short timeouts. */
let service: ApiService;
let server: ApiServer;
let authorization: string;
const lines: LogLine[] = [];
beforeAll(async () => {
  service = await startApiService();
  authorization = await service.bearer("developer");
  const options = {
    host: "127.0.0.1",
    port: 0,
    clock: systemClock,
    log: recordingLog(lines),
    stopping: new AbortController(),
  };
  server = await startServer(service.app, { ...options, patience: { headMs: 300, requestMs: 600 } });
});
beforeEach(() => void lines.splice(0));
const open = new Set<RawConnection>();
afterEach(() => {
  for (const { socket } of open) socket.destroy();
  open.clear();
});
afterAll(async () => {
  await server.stop({ graceMs: 0 });
  await service.stop();
});

function send(text: string): RawConnection {
  const connection = rawConnection(server.url, text);
  open.add(connection);
  return connection;
}

async function answerOf(connection: RawConnection) {
  await connection.closed();
  const [head = "", ...bodies] = connection.seen.text.split("\r\n\r\n");
  const [first = "", ...headers] = head.split("\r\n");
  const named = headers.map((line) => [line.split(": ")[0]?.toLowerCase() ?? "", line.replace(/^[^:]+: /, "")]);
  const body: unknown = JSON.parse(bodies.join("\r\n\r\n"));
  return { status: Number(first.split(" ")[1]), headers: Object.fromEntries(named) as Record<string, string>, body };
}

const POST = `POST /api/environments HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;

describe("requests that Node would answer itself (abuse 112)", () => {
  test.each([
    ["no HTTP at all", () => "nonsense\r\n\r\n", 400],
    ["a handshake for TLS", () => "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003", 400],
    ["HTTP/2", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
    ["a header without a name", () => "GET /api/health HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n", 400],
    ["an unknown method", () => "BREW / HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["two lengths", () => `${POST}Content-Length: 4\r\nContent-Length: 5\r\n\r\n`, 400],
    ["no host", () => "GET /api/health HTTP/1.1\r\n\r\n", 400],
    ["a head without end", () => `GET /api/health HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(20_000)}`, 431],
    ["a path without end", () => `GET /${"x".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    [
      "chunks with extensions without end",
      () => `${POST}Authorization: ${authorization}\r\nTransfer-Encoding: chunked\r\n\r\n2;${"x".repeat(20_000)}\r\n{}`,
      413,
    ],
    ["a head that never ends", () => "GET /api/health HTTP/1.1\r\nHost: x\r\n", 408],
    ["a body that never comes", () => `${POST}Authorization: ${authorization}\r\nContent-Length: 10\r\n\r\n{`, 408],
  ])("is refused as everything is: %s", async (_case, text, status) => {
    const answer = await answerOf(send(text()));
    expectProblem(answer, status);
    expect(answer.headers).toMatchObject({
      "x-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
      "cache-control": "no-store",
      connection: "close",
      date: expect.stringMatching(/ GMT$/),
    });
    const requestId = answer.headers["x-request-id"];
    expect(lines.map(({ level, facts }) => [level, facts.requestId, facts.status])).toEqual([
      ["info", requestId, status],
    ]);
  });

  test("keeps the id of a request that was being served, as its own lines have it", async () => {
    const head = `${POST}Authorization: ${authorization}\r\nX-Request-ID: mine-1\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const answer = await answerOf(send(`${head}no length\r\n`));
    expectProblem(answer, 400);
    expect(answer.headers["x-request-id"]).toBe("mine-1");
  });

  test("never puts a second answer behind one that has begun", async () => {
    const connection = send("GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(await connection.status()).toBe(200);
    connection.socket.write("nonsense\r\n\r\n");
    await connection.closed();
    const statuses = [...connection.seen.text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
    expect(statuses).toEqual(["200", "400"]);
    expect(connection.seen.text).toMatch(/"status_code":400,"timestamp":"[^"]+"\}$/);
  });

  test("is silent where nothing was sent that could be answered", async () => {
    const connection = send("GET /api/hea");
    connection.socket.resetAndDestroy();
    expect((await fetch(`${server.url}/api/health`)).status).toBe(200);
    expect(lines).toEqual([]);
  });

  test("serves an expectation that it does not know, and HTTP/1.0 without a host", async () => {
    const expecting = send(
      "GET /api/health HTTP/1.1\r\nHost: x\r\nExpect: the-unexpected\r\nConnection: close\r\n\r\n",
    );
    const old = send("GET /api/health HTTP/1.0\r\n\r\n");
    for (const connection of [expecting, old]) expect((await answerOf(connection)).status).toBe(200);
  });
});

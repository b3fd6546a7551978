import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { type ApiServer, startServer } from "../../../api/http/server.ts";
import { silentLog } from "../../../operator/kit/log.ts";
import { systemClock } from "../../../operator/kit/time/clock.ts";
import { until } from "../../support/fixtures/until.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, startApiService } from "../../support/http/api-service.ts";
import { type RawConnection, rawConnection } from "../../support/http/raw-connection.ts";

/** The facade behind its own server, reached by bytes: what no HTTP client would send. */
let service: ApiService;
let server: ApiServer;
let authorization: string;
beforeAll(async () => {
  service = await startApiService();
  authorization = await service.bearer("developer");
  const options = { host: "127.0.0.1", port: 0, clock: systemClock, log: silentLog, stopping: new AbortController() };
  server = await startServer(service.app, options);
});
const open = new Set<RawConnection>();
afterEach(async () => {
  for (const { socket } of open) socket.destroy();
  open.clear();
  expect(service.environments.list()).toEqual([]);
  expect((await fetch(`${server.url}/api/health`)).status).toBe(200);
});
afterAll(async () => {
  await server.stop({ graceMs: 0 });
  await service.stop();
});

const raw = (text = "", { url } = server) => {
  const connection = rawConnection(url, text);
  open.add(connection);
  return connection;
};
/** A request of these lines after the first two, with nothing behind the head. */
const head = (line: string, ...lines: string[]) => [`${line} HTTP/1.1`, "Host: x", ...lines, "", ""].join("\r\n");
const post = (...lines: string[]) => head("POST /api/environments", `Authorization: ${authorization}`, ...lines);
const JSON_TYPE = "Content-Type: application/json";

describe("a request id (abuse 51)", () => {
  test.each([
    ["the escapes of a terminal", "\u001b[31mred"],
    ["a tab", "a\tb"],
    ["bytes beyond ASCII", "\u00e9\u00ff"],
    ["ten thousand characters", "x".repeat(10_000)],
  ])("with %s is replaced, or the request refused, and never logged", async (_case, id) => {
    const before = service.log.length;
    const connection = raw(head("GET /nowhere", `X-Request-ID: ${id}`, "Connection: close"));
    expect([400, 404]).toContain(await connection.status());
    await connection.closed();
    expect(connection.seen.text).not.toContain(id);
    expect(JSON.stringify(service.log.slice(before))).not.toContain(JSON.stringify(id).slice(1, -1));
  });

  test("that tries to bring a header of its own brings none", async () => {
    const connection = raw(head("GET /nowhere", "X-Request-ID: a\r\nX-Forged: b", "Connection: close"));
    expect(await connection.status()).toBe(404);
    await connection.closed();
    expect(connection.seen.text).not.toMatch(/forged/i);
  });
});

describe("a body that never ends (abuse 59)", () => {
  /** Sends chunks until somebody ends the connection; gives how many bytes it could send. */
  async function flood(connection: RawConnection): Promise<number> {
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    while (!connection.seen.isClosed && connection.socket.bytesWritten < 100_000_000) {
      if (connection.socket.write(chunk)) await new Promise((resolve) => setImmediate(resolve));
      else
        await Promise.race([once(connection.socket, "drain"), once(connection.socket, "close")]).catch(() => undefined);
    }
    return connection.socket.bytesWritten;
  }

  test.each([
    ["of somebody known is cut at the cap", () => [`Authorization: ${authorization}`], 413],
    ["of nobody is cut as early", () => [], 401],
  ])("%s, after an answer", async (_case, lines, status) => {
    const start = head("POST /api/environments", ...lines(), JSON_TYPE, "Transfer-Encoding: chunked");
    const connection = raw(start);
    const sent = await flood(connection);
    expect(sent).toBeLessThan(30_000_000);
    expect(connection.seen.text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  test("is not even begun when it announces a hundred megabytes", async () => {
    const connection = raw(post(JSON_TYPE, "Content-Length: 100000000"));
    expect(await connection.status()).toBe(413);
  });
});

describe("a compressed body (abuse 60)", () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  test.each([
    ["a bomb", "gzip"],
    ["one in another", "gzip, gzip"],
    ["an encoding of its own", "x-unknown"],
  ])("%s is refused and not unpacked", async (_case, encoding) => {
    const call = service.http.post("/api/environments").set({ authorization }).type("application/json");
    const reply = await call
      .set("content-encoding", encoding)
      .serialize((sent) => sent)
      .send(bomb);
    expectProblem(reply, 415);
    expectPromised(reply, "post", "/api/environments");
  });

  test("compressed in transfer is refused too", async () => {
    const connection = raw(post(JSON_TYPE, "Transfer-Encoding: gzip, chunked"));
    connection.socket.write("0\r\n\r\n");
    expect(await connection.status()).toBeGreaterThanOrEqual(400);
  });
});

describe("JSON made to be hard (abuse 61)", () => {
  const send = (body: string) =>
    service.http.post("/api/environments").set({ authorization }).type("application/json").send(body);

  test("many thousand keys are refused, and a hundred of them named", async () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `"k${index}":0`);
    const reply = await send(`{${keys.join(",")}}`);
    expectProblem(reply, 400, undefined, "ENV_CONFIG_INVALID");
    expect(reply.body.detail.split("; ").length).toBeLessThanOrEqual(100);
  });

  test.each([
    ["a million keys", () => `{${Array.from({ length: 1_000_000 }, (_, index) => `"${index}":0`).join(",")}}`],
    ["a number of a million digits", () => `{"ttl":${"9".repeat(1_000_000)}}`],
  ])("%s is too large", async (_case, body) => {
    expectProblem(await send(body()), 413);
  });
});

describe("slow senders (abuse 62)", () => {
  test("of a head, of a body, and of nothing after a head are cut, and others served meanwhile", async () => {
    const options = { host: "127.0.0.1", port: 0, clock: systemClock, log: silentLog, stopping: new AbortController() };
    const hasty = await startServer(service.app, { ...options, patience: { headMs: 300, requestMs: 900 } });
    const slow = [
      raw("GET /api/health HTTP/1.1\r\nHost: x\r\nX-Slow:", hasty),
      raw(post(JSON_TYPE, "Content-Length: 1000"), hasty),
      raw(post(JSON_TYPE, "Transfer-Encoding: chunked"), hasty),
    ];
    const drip = setInterval(() => {
      slow[0]?.socket.write("x");
      slow[2]?.socket.write("1\r\nx\r\n");
    }, 20);
    try {
      expect((await fetch(`${hasty.url}/api/health`)).status).toBe(200);
      for (const connection of slow) await connection.closed();
    } finally {
      clearInterval(drip);
      await hasty.stop({ graceMs: 0 });
    }
  });

  test("of one address have 256 connections, and the first of them stay", async () => {
    const held = Array.from({ length: 300 }, () => raw("GET /api/health HTTP/1.1\r\n"));
    await until(() => held.filter(({ seen }) => seen.isClosed).length >= 44, { what: "the end of those beyond" });
    for (const connection of held) connection.socket.write("Host: x\r\nConnection: close\r\n\r\n");
    await until(() => held.every(({ seen }) => seen.isClosed), { what: "the end of all" });
    expect(held.filter(({ seen }) => seen.text.startsWith("HTTP/1.1 200")).length).toBeGreaterThan(0);
    await until(async () => (await fetch(`${server.url}/api/health`)).status === 200);
  });
});

describe("a request that two readers would read in two ways (abuse 63)", () => {
  test.each([
    ["a length and chunks", ["Content-Length: 4", "Transfer-Encoding: chunked"]],
    ["two lengths", ["Content-Length: 4", "Content-Length: 5"]],
    ["a length that is none", ["Content-Length: +4"]],
    ["chunks that are not the last", ["Transfer-Encoding: chunked, identity"]],
    ["an unknown transfer", ["Transfer-Encoding: xchunked"]],
    ["a space before the colon", ["Transfer-Encoding : chunked"]],
    ["a folded line", ["X-Folded: a", " b", "Content-Length: 0"]],
    ["a bare line feed", ["X-Bare: a\nContent-Length: 0"]],
    ["a NUL", ["X-Nul: a\u0000b"]],
  ])("with %s is refused, and the connection closed", async (_case, lines) => {
    const connection = raw(`${post(JSON_TYPE, ...lines)}GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(await connection.status()).toBe(400);
    await connection.closed();
    expect(connection.seen.text).not.toMatch(/ 200 /);
  });

  test.each([
    ["hosts", ["Host: y"]],
    ["types", [JSON_TYPE, "Content-Type: application/x-www-form-urlencoded"]],
  ])("with two %s is refused, and counted", async (_case, lines) => {
    const connection = raw(post(...lines, "Content-Length: 0"));
    expect(await connection.status()).toBe(400);
    expect(connection.seen.text).toMatch(/^x-ratelimit-remaining: \d+\r$/im);
  });

  test("whose head is too long is refused", async () => {
    const connection = raw(head("GET /api/health", `X-Long: ${"x".repeat(20_000)}`));
    expect(await connection.status()).toBe(431);
    await connection.closed();
  });
});

describe("a path written in another way (abuse 67)", () => {
  test.each([
    "GET //api/health",
    "GET /api//health",
    "GET /api/../api/health",
    "GET /docs/../api/health",
    "GET /api/./health",
    "GET /api/%2e%2e/api/health",
    "GET /api/%2e/health",
    "GET /api%2fhealth",
    "GET /API/health",
    "GET /api/health//",
    "GET /api/environments//logs/backend",
    "GET /api/health%00",
    "GET /api/health;x=1",
    "GET \\api\\health",
  ])("%s is not that path", async (line) => {
    const connection = raw(head(line, "Connection: close"));
    expect([400, 404]).toContain(await connection.status());
  });

  test.each(["TRACE /api/health", "TRACK /api/health", "CONNECT /api/health", "PROPFIND /api/health", "BREW /"])(
    "%s does nothing",
    async (line) => {
      const connection = raw(head(line, "Connection: close"));
      await connection.closed();
      expect(connection.seen.text).not.toMatch(/^HTTP\/1\.1 2/);
    },
  );

  test.each(["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"])("%s overrides nothing", async (name) => {
    const reply = await service.http.get("/api/environments/none").set({ authorization, [name]: "DELETE" });
    expectProblem(reply, 404, "Environment not found", "ENV_NOT_FOUND");
    const asField = await service.http.post("/api/environments?_method=DELETE").set({ authorization }).send({});
    expect(asField.status).toBe(400);
  });
});

describe("a page of another site (abuse 86)", () => {
  const origin = "https://evil.example";

  test("that sends a form with its visitor's cookies is not authenticated", async () => {
    const cookie = `authorization=${authorization}; session=x`;
    const form = "environment_name=taken-over&backend_repo=shop-api&backend_branch=main";
    const reply = await service.http.post("/api/environments").set({ origin, cookie }).type("form").send(form);
    expectProblem(reply, 401, "Authentication required");
  });

  test("gets no leave to read or to ask", async () => {
    const asked = {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization",
    };
    for (const reply of [
      await service.http.options("/api/environments").set(asked),
      await service.http.get("/api/environments").set({ origin, authorization }),
      await service.http.get("/openapi.json").set({ origin }),
    ]) {
      expect(Object.keys(reply.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
      expect(reply.headers["cross-origin-resource-policy"]).toBe("same-origin");
    }
  });

  test("finds none of its input in our pages", async () => {
    const script = "<script>alert(1)</script>";
    for (const path of ["/docs", "/redoc", "/nowhere", "/api/environments"]) {
      const reply = await service.http.get(`${path}?x=${encodeURIComponent(script)}`).set({ "x-request-id": script });
      expect(reply.text).not.toContain(script);
    }
  });
});

test("a form or a query that is not UTF-8 is refused (abuse 46, 48)", async () => {
  const form = "environment_name=fine&backend_repo=shop-api&backend_branch=main";
  const post = (body: Buffer) =>
    service.http
      .post("/api/environments")
      .set({ authorization })
      .type("form")
      .serialize((raw) => raw)
      .send(body);
  expectProblem(await post(Buffer.from(`${form}%ff`)), 400, "A field is not valid UTF-8");
  expectProblem(await post(Buffer.concat([Buffer.from(form), Buffer.of(0xff)])), 400, "The body is not valid UTF-8");
  const search = (text: string) => service.http.get(`/api/environments?search=${text}`).set({ authorization });
  expectProblem(await search("%c3%28"), 400, "A field is not valid UTF-8");
  for (const text of ["%ef%bf%bd", "%e2%82%ac", "100%"]) expect((await search(text)).status).toBe(200);
});

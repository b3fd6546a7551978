import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import type { RawConnection } from "../../support/http/raw-connection.ts";
import { apiByBytes, head, JSON_TYPE } from "./api-by-bytes.ts";

const api = apiByBytes();
const { raw, post } = api;

describe("a body that never ends (abuse 59)", () => {
  /** Sends chunks until the connection ends; answers the number of sent bytes. */
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
    ["of a known caller is cut at the cap", () => [`Authorization: ${api.authorization}`], 413],
    ["without a credential is cut as early", () => [], 401],
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
    const call = api.service.http
      .post("/api/environments")
      .set({ authorization: api.authorization })
      .type("application/json");
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
    api.service.http
      .post("/api/environments")
      .set({ authorization: api.authorization })
      .type("application/json")
      .send(body);

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

import { describe, expect, test } from "@jest/globals";
import { startServer } from "../../../api/http/server.ts";
import { systemClock } from "../../../operator/kit/time/clock.ts";
import { silentLog } from "../../support/fixtures/silent-log.ts";
import { until } from "../../support/fixtures/until.ts";
import { apiByBytes, head, JSON_TYPE } from "./api-by-bytes.ts";

const api = apiByBytes();
const { raw, post } = api;

describe("slow senders (abuse 62)", () => {
  test("of a head, of a body, and of nothing after a head are cut, and others served meanwhile", async () => {
    const options = { host: "127.0.0.1", port: 0, clock: systemClock, log: silentLog, stopping: new AbortController() };
    const hasty = await startServer(api.service.app, { ...options, patience: { headMs: 300, requestMs: 900 } });
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

  test("of long bodies share 32 MiB, and the next long one is told to come again", async () => {
    const mebibyte = 1_048_576;
    const begin = () =>
      raw(
        head("POST /api/webhooks/environment/event", JSON_TYPE, `Content-Length: ${mebibyte}`) + "x".repeat(1_000_000),
      );
    const senders = Array.from({ length: 40 }, begin);
    const answered = () => senders.filter(({ seen }) => seen.text !== "");
    // Each has 64 KiB for itself: 35 of them fill the memory.
    await until(() => answered().length === 5, { what: "the answers of those beyond" });
    for (const { seen } of answered()) {
      expect(seen.text).toMatch(/^HTTP\/1\.1 503 /);
      expect(seen.text).toContain("\r\nRetry-After: 10\r\n");
      expect(seen.text).toContain("Too many long requests arrive at once");
    }
    const short = await fetch(`${api.server.url}/api/webhooks/environment/event`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(short.status).toBeLessThan(500);
    // Callers who are known have as much of their own.
    const known = await fetch(`${api.server.url}/api/environments`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: api.authorization },
      body: JSON.stringify({ text: "x".repeat(400_000) }),
    });
    expect(known.status).toBe(400);
    for (const { socket } of senders) socket.destroy();
    const rest = "x".repeat(mebibyte - 1_000_000);
    const later = await until(
      async () => {
        const one = begin();
        one.socket.write(rest);
        const status = await one.status();
        return status !== 503 && status;
      },
      { what: "the memory being free again" },
    );
    expect(later).toBe(400);
  });

  test("of one address have 256 connections, and the first of them stay", async () => {
    const held = Array.from({ length: 300 }, () => raw("GET /api/health HTTP/1.1\r\n"));
    await until(() => held.filter(({ seen }) => seen.isClosed).length >= 44, { what: "the end of those beyond" });
    for (const connection of held) connection.socket.write("Host: x\r\nConnection: close\r\n\r\n");
    await until(() => held.every(({ seen }) => seen.isClosed), { what: "the end of all" });
    expect(held.filter(({ seen }) => seen.text.startsWith("HTTP/1.1 200")).length).toBeGreaterThan(0);
    await until(async () => (await fetch(`${api.server.url}/api/health`)).status === 200);
  });
});

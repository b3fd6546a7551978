import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { answersPing } from "../../../../deploy/local/redis-ping.ts";

let server: Server | undefined;

afterEach(async () => {
  if (!server?.listening) return;
  server.close();
  await once(server, "close");
});

async function answering(reply: string): Promise<number> {
  server = createServer((connection) => connection.once("data", () => connection.end(reply))).listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

test("a Redis answers", async () => {
  expect(await answersPing(await answering("+PONG\r\n"))).toBe(true);
});

test("one that is loading, and anybody else, does not", async () => {
  expect(await answersPing(await answering("-LOADING Redis is loading the dataset in memory\r\n"))).toBe(false);
});

test("a port that nobody listens on fails", async () => {
  const port = await answering("");
  server?.close();
  await expect(answersPing(port)).rejects.toThrow("ECONNREFUSED");
});

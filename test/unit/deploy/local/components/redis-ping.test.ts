import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { answersPing } from "../../../../../deploy/local/components/redis-ping.ts";

let server: Server | undefined;

afterEach(async () => {
  if (!server?.listening) return;
  server.close();
  await once(server, "close");
});

const authentication = "*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n";

async function answering(reply: string): Promise<{ port: number; password: string }> {
  server = createServer((connection) => {
    connection.on("data", (words) => {
      if (words.toString() === authentication) connection.write("+OK\r\n");
      else connection.end(words.toString().includes("PING") ? reply : "-WRONGPASS invalid password\r\n");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, password: "secret" };
}

test("a Redis answers", async () => {
  expect(await answersPing(await answering("+PONG\r\n"))).toBe(true);
});

test("a Redis with another password does not count as ours", async () => {
  expect(await answersPing({ ...(await answering("+PONG\r\n")), password: "other" })).toBe(false);
});

test("a Redis that is loading does not count as ready, nor does another server", async () => {
  expect(await answersPing(await answering("-LOADING Redis is loading the dataset in memory\r\n"))).toBe(false);
});

test("a port without a listener fails", async () => {
  const redis = await answering("");
  server?.close();
  await expect(answersPing(redis)).rejects.toThrow("ECONNREFUSED");
});

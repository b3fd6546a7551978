/**
 * A server that only answers every request with as many bytes as its argument, or its query `?bytes=`, says. Its response
 * times and event loop delays come from the machine and the measurement.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { answerParent } from "./answer-parent.ts";
import { eventLoopDelays } from "./event-loop.ts";

const usual = Number(process.argv[2]);
const bodies = new Map<number, string>();
function bodyOf(url: string): string {
  const requested = /\?bytes=(\d+)$/.exec(url)?.[1];
  const bytes = requested === undefined ? usual : Number(requested);
  const body = bodies.get(bytes) ?? "x".repeat(bytes);
  bodies.set(bytes, body);
  return body;
}
const server = createServer(({ url = "" }, reply) => reply.end(bodyOf(url))).listen(0, "127.0.0.1");
const listening = once(server, "listening");
const { delays, restart } = eventLoopDelays();
answerParent(async (question) => {
  await listening;
  if (question === "url") return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  if (question === "restart of the delays") restart();
  return delays();
});

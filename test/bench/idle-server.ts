/**
 * A server that answers every request with as many bytes as its argument says, and does nothing for it. How long its
 * answers take, and how late its event loop is, is the doing of the machine and of the measurement.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { answerParent } from "./answer-parent.ts";
import { eventLoopDelays } from "./event-loop.ts";

const body = "x".repeat(Number(process.argv[2]));
const server = createServer((_request, reply) => reply.end(body)).listen(0, "127.0.0.1");
const listening = once(server, "listening");
const { delays, restart } = eventLoopDelays();
answerParent(async (question) => {
  await listening;
  if (question === "url") return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  if (question === "restart of the delays") restart();
  return delays();
});

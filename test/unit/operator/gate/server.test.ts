import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Gate } from "../../../../operator/gate/gate.ts";
import { type GateServer, startGateServer } from "../../../../operator/gate/server.ts";
import { systemClock } from "../../../../operator/kit/time/clock.ts";
import { until } from "../../../support/fixtures/until.ts";

let server: GateServer;
let sockets: Socket[];

/** Answers the length of each body. */
const gate: Gate = {
  serve: (request, response) => {
    text(request).then(
      (body) => response.end(`${body.length}`),
      () => response.destroy(),
    );
  },
  upgrade: (_request, socket) => void socket.destroy(),
  held: 0,
};

beforeEach(async () => {
  sockets = [];
  const patience = { headMs: 300, requestMs: 600 };
  server = await startGateServer(gate, { host: "127.0.0.1", port: 0, clock: systemClock, patience });
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.stop(0);
});

function open(): Socket {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  sockets.push(socket);
  return socket;
}

const isClosed = (socket: Socket) => socket.closed || socket.readableEnded;
const HEAD = "POST / HTTP/1.1\r\nHost: a.env.example.com\r\n";

describe("the gate's server", () => {
  test.each([
    ["what says nothing", ""],
    ["a head that never ends", HEAD],
    ["a body that never ends", `${HEAD}Content-Length: 10\r\n\r\nabc`],
  ])("cuts off %s", async (_title, begin) => {
    const socket = open();
    socket.resume();
    socket.write(begin);
    await until(() => isClosed(socket), { what: "the end of the connection" });
  });

  test("refuses a head that is too long", async () => {
    const socket = open();
    socket.write(`${HEAD}X: ${"x".repeat(20_000)}\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 431 /);
  });

  test("keeps two thousand of ten thousand connections, closes the others at once, and answers again when there is room", async () => {
    await server.stop(0);
    server = await startGateServer(gate, { host: "127.0.0.1", port: 0, clock: systemClock });
    // One after the other: the server is in this process, and a full backlog would cost a second.
    for (let count = 0; count < 10_000; count += 1) await once(open().resume(), "connect");
    await until(() => sockets.filter(isClosed).length >= 8_000, { what: "the end of those beyond" });
    expect(sockets.filter(isClosed)).toHaveLength(8_000);
    for (const socket of sockets) socket.destroy();
    const answered = async () => {
      const socket = open();
      socket.end("GET / HTTP/1.1\r\nHost: a.env.example.com\r\nConnection: close\r\n\r\n");
      return (await text(socket).catch(() => "")).startsWith("HTTP/1.1 200 OK");
    };
    await until(answered, { what: "an answer" });
  });
});

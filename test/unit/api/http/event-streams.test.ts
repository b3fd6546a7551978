import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import express from "express";
import type { Caller } from "../../../../api/auth/access.ts";
import type { HttpError } from "../../../../api/errors.ts";
import { createEventStreams } from "../../../../api/http/event-streams.ts";
import type { ServerEvent } from "../../../../api/route.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import { until } from "../../../support/fixtures/until.ts";
import { readEvents } from "../../../support/plane/event-reader.ts";

let stopping: AbortController;
let url: string;
let open = 0;
let stop: () => void;
let gate: Promise<void>;
let arrived: number;
let openConnections: () => number;
/** Requests that ended before they became a stream, or after. */
let over: number;

/** The events of each stream before it waits for its end. */
let batches: readonly (readonly ServerEvent<object>[])[];
let checks: number;

/** A service that answers each request with a stream, for the person and token in the path. */
beforeEach(async () => {
  batches = [[]];
  checks = 0;
  stopping = new AbortController();
  const streams = createEventStreams({ clock: new TestClock(), stopping: stopping.signal });
  const app = express();
  gate = Promise.resolve();
  arrived = 0;
  over = 0;
  app.get("/:subject{/:token}", async (request, response) => {
    arrived += 1;
    await gate;
    const events = async function* (signal: AbortSignal) {
      open += 1;
      yield* batches;
      if (!signal.aborted) await once(signal, "abort");
      open -= 1;
    };
    const { subject, token } = request.params;
    const caller = { subject, ...(token === undefined ? {} : { token: { id: token } }) } as Caller;
    const onOpen = async () => undefined;
    const checkAccess = async () => {
      checks += 1;
    };
    await streams
      .send({ request, response, caller, events, onOpen, checkAccess })
      .catch((error) => void response.status(418).json({ kind: (error as HttpError).kind }));
    over += 1;
  });
  const server = app.listen(0, "127.0.0.1");
  const connections = new Set<Socket>();
  server.on("connection", (socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  openConnections = () => connections.size;
  stop = () => {
    stopping.abort();
    server.close();
    server.closeAllConnections();
  };
});
afterEach(async () => {
  stop();
  await until(() => open === 0, { what: "the end of every stream" });
});

test("five hundred streams are open at once, twenty of each caller; the room of those that end is taken again", async () => {
  const leaving = new AbortController();
  const ask = (subject: string, signal?: AbortSignal) =>
    fetch(`${url}/${subject}`, signal === undefined ? {} : { signal });
  const replies: Response[] = [];
  for (let stream = 0; stream < 500; stream += 1) {
    replies.push(await ask(`caller-${stream % 25}`, stream === 0 ? leaving.signal : undefined));
  }
  expect(await (await ask("caller-1")).json()).toEqual({ kind: "rate-limited" });
  expect(await (await ask("one more")).json()).toEqual({ kind: "unavailable" });

  leaving.abort();
  await until(() => open === 499, { what: "the end of the first" });
  expect((await ask("one more")).status).toBe(200);
  // Keeps the replies until here: otherwise garbage collection would end their streams.
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(500);
}, 30_000);

test("rights are checked before what is sent, not for what the caller does not get", async () => {
  batches = [[], [], [{ id: "1", data: {} }], []];
  const reader = await readEvents(`${url}/caller`, {});
  await until(() => reader.events.length === 1, { what: "the event" });
  expect(checks).toBe(1);
  reader.leave();
});

test("one person's tokens have twenty streams together", async () => {
  const replies: Response[] = [];
  for (let token = 0; token < 20; token += 1) replies.push(await fetch(`${url}/person/${token}`));
  expect(await (await fetch(`${url}/person/another`)).json()).toEqual({ kind: "rate-limited" });
  // Keeps the replies until here: otherwise garbage collection would end their streams.
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(20);
});

test("a client that disconnects before the stream begins takes no room", async () => {
  const leaving = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  gate = promise;
  const left = fetch(`${url}/caller`, { signal: leaving.signal }).catch(() => undefined);
  await until(() => arrived === 1, { what: "the request" });
  leaving.abort();
  await left;
  await until(() => openConnections() === 0, { what: "the end of the connection" });
  resolve();
  await until(() => over === 1, { what: "the end of the request" });
  expect(open).toBe(0);
});

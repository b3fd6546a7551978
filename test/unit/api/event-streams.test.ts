import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import express from "express";
import type { Caller } from "../../../api/auth/callers.ts";
import { createEventStreams } from "../../../api/event-streams.ts";
import type { Refusal } from "../../../api/refusals.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";

let stopping: AbortController;
let url: string;
let open = 0;
let stop: () => void;

/** A service whose every answer is a stream without events, for whomever the path names. */
beforeEach(async () => {
  stopping = new AbortController();
  const streams = createEventStreams({ clock: new TestClock(), stopping: stopping.signal });
  const app = express();
  app.get("/:subject", async (request, response) => {
    const events = async function* (signal: AbortSignal) {
      open += 1;
      yield [];
      if (!signal.aborted) await once(signal, "abort");
      open -= 1;
    };
    const caller = { subject: request.params.subject } as Caller;
    const nothing = async () => undefined;
    await streams
      .send({ request, response, caller, events, onOpen: nothing, stillMay: nothing })
      .catch((error) => void response.status(418).json({ kind: (error as Refusal).kind }));
  });
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
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

test("a hundred streams are open at once, five of each caller; the room of those that end is taken again", async () => {
  const leaving = new AbortController();
  const ask = (subject: string, signal?: AbortSignal) =>
    fetch(`${url}/${subject}`, signal === undefined ? {} : { signal });
  for (let stream = 0; stream < 100; stream += 1) {
    const reply = await ask(`caller-${stream % 20}`, stream === 0 ? leaving.signal : undefined);
    expect(reply.status).toBe(200);
  }
  expect(await (await ask("caller-1")).json()).toEqual({ kind: "rate-limited" });
  expect(await (await ask("one more")).json()).toEqual({ kind: "unavailable" });

  leaving.abort();
  await until(() => open === 99, { what: "the end of the first" });
  expect((await ask("one more")).status).toBe(200);
}, 30_000);

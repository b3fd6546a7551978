import { describe, expect, jest, test } from "@jest/globals";
import { isConflict } from "../../../../../operator/kit/client/errors.ts";
import { isWrite, type KubeRequest } from "../../../../../operator/kit/client/request.ts";
import { json, Stream } from "../../../../support/doubles/fake-api-server.ts";
import { configMap, configMaps } from "../../../../support/fixtures/config-maps.ts";
import { until } from "../../../../support/fixtures/until.ts";
import { anything, draft, failureOf, kubeClients, ref } from "./kube-clients.ts";

// Longer than the deadlines of inner waits.
jest.setTimeout(30_000);

const world = kubeClients();
const { client } = world;

describe("the request interceptor", () => {
  test("sees every call and counts writes", async () => {
    const seen: KubeRequest[] = [];
    world.server.on(anything, json(configMap("a", "1")));
    const watched = client({
      onRequest: (request, next) => {
        seen.push(request);
        return next();
      },
    });
    await watched.find(configMaps, ref);
    await watched.create(configMaps, draft);
    expect(seen).toMatchObject([
      { verb: "get", type: configMaps, name: "a", namespace: "ns" },
      { verb: "create", type: configMaps, name: "a", body: { data: { key: "value" } } },
    ]);
    expect(seen.filter(({ verb }) => isWrite(verb))).toHaveLength(1);
  });

  test("throwing before sends nothing; throwing after has written", async () => {
    world.server.on(anything, json(configMap("a", "1"), 201));
    const fault = new Error("killed");
    const before = client({ onRequest: () => Promise.reject(fault) });
    await expect(before.create(configMaps, draft)).rejects.toBe(fault);
    expect(world.server.seen).toHaveLength(0);
    const after = client({ onRequest: (_request, next) => next().then(() => Promise.reject(fault)) });
    await expect(after.create(configMaps, draft)).rejects.toBe(fault);
    expect(world.server.seen).toHaveLength(1);
  });

  test("a stream that it refuses after the server opened it is closed", async () => {
    const stream = new Stream();
    world.server.on(anything, stream.answer);
    const fault = new Error("killed");
    const killed = client({ onRequest: (_request, next) => next().then(() => Promise.reject(fault)) });
    const options = { resourceVersion: "1", timeoutSeconds: 60, signal: new AbortController().signal };
    await expect(killed.watch(configMaps, options)[Symbol.asyncIterator]().next()).rejects.toBe(fault);
    await until(() => stream.opened === 1 && !stream.isOpen);
  });

  const watching = (signal: AbortSignal) => ({ resourceVersion: "1", timeoutSeconds: 60, signal });

  test("may put another stream in the place of a watch's", async () => {
    const stream = new Stream();
    world.server.on(anything, stream.answer);
    const repeating = client({
      onRequest: async (_request, next) => {
        const { stream: given, ...answer } = await next();
        return { ...answer, stream: eachTwice(given ?? []) };
      },
    });
    const events = repeating.watch(configMaps, watching(new AbortController().signal))[Symbol.asyncIterator]();
    const first = events.next();
    await until(() => stream.isOpen);
    stream.event("ADDED", configMap("a", "1"));
    const event = { type: "ADDED", object: configMap("a", "1") };
    expect([await first, await events.next()]).toEqual([1, 2].map(() => ({ done: false, value: event })));
    await events.return?.();
    await until(() => !stream.isOpen);
  });

  test("may let a watch fall silent: the caller's signal still ends it, and its connection", async () => {
    const stream = new Stream();
    world.server.on(anything, stream.answer);
    const silent = client({ onRequest: async (_request, next) => ({ ...(await next()), stream: nothingEver }) });
    const caller = new AbortController();
    const events = silent.watch(configMaps, watching(caller.signal))[Symbol.asyncIterator]();
    const first = events.next();
    await until(() => stream.isOpen);
    caller.abort();
    expect(await first).toEqual({ done: true, value: undefined });
    await until(() => !stream.isOpen);
  });

  test("may answer in the server's place", async () => {
    const storming = client({
      onRequest: async () => ({ status: 409, headers: {}, body: { reason: "Conflict" } }),
    });
    expect(isConflict(await failureOf(storming.replace(configMaps, configMap("a", "1"))))).toBe(true);
  });
});

async function* eachTwice(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    yield chunk;
    yield chunk;
  }
}

const nothingEver: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }),
};

import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { createKubeClient, type KubeClientOptions } from "../../../../../operator/kit/client/create-kube-client.ts";
import {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  isUnavailable,
  KubeError,
} from "../../../../../operator/kit/client/errors.ts";
import type { KubeClient } from "../../../../../operator/kit/client/kube-client.ts";
import { isWrite, type KubeRequest, type RequestSeam } from "../../../../../operator/kit/client/request.ts";
import {
  type FakeApiServer,
  json,
  reset,
  Stream,
  silence,
  startFakeApiServer,
  status,
} from "../../../../support/doubles/fake-api-server.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { type ConfigMap, configMap, configMapList, configMaps } from "../../../../support/fixtures/config-maps.ts";
import { until } from "../../../../support/fixtures/until.ts";

// Waits inside have deadlines of their own, which say what did not happen.
jest.setTimeout(30_000);

const anything = () => true;
const ref = { name: "a", namespace: "ns" };
const draft = { metadata: ref, data: { key: "value" } };

let server: FakeApiServer;
let clients: KubeClient[];

beforeEach(async () => {
  server = await startFakeApiServer();
  clients = [];
});

afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await server.close();
});

function client(options: Partial<KubeClientOptions> = {}): KubeClient {
  const made = createKubeClient({ kubeConfig: server.kubeConfig, random: () => 0, ...options });
  clients.push(made);
  return made;
}

async function failureOf(call: Promise<unknown>): Promise<KubeError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof KubeError) return error;
  throw new Error("the call did not fail with a KubeError", { cause: error });
}

describe("find", () => {
  test("answers the object, authenticated and named", async () => {
    server.on(anything, json(configMap("a", "1")));
    expect(await client({ userAgent: "tester/2" }).find(configMaps, ref)).toEqual(configMap("a", "1"));
    expect(server.seen[0]).toMatchObject({ method: "GET", path: "/api/v1/namespaces/ns/configmaps/a" });
    expect(server.seen[0]?.headers).toMatchObject({ authorization: "Bearer a-token", "user-agent": "tester/2" });
  });

  test("answers undefined when there is none", async () => {
    server.on(anything, status(404, "NotFound"));
    expect(await client().find(configMaps, ref)).toBeUndefined();
  });

  test.each([
    { name: "503", answer: status(503, "ServiceUnavailable") },
    { name: "429", answer: status(429, "TooManyRequests") },
    { name: "a reset connection", answer: reset },
    { name: "a 401, once", answer: status(401, "Unauthorized") },
  ])("is tried again after $name", async ({ answer }) => {
    server.on(anything, answer, json(configMap("a", "1")));
    expect(await client().find(configMaps, ref)).toBeDefined();
    expect(server.seen).toHaveLength(2);
  });

  test("waits as long as the server asks before the next try", async () => {
    const clock = new TestClock();
    server.on(anything, status(429, "TooManyRequests", { "retry-after": "7" }), json(configMap("a", "1")));
    const found = client({ clock }).find(configMaps, ref);
    await until(() => clock.pending.includes(7_000));
    expect(server.seen).toHaveLength(1);
    clock.advance(7_000);
    expect(await found).toBeDefined();
  });

  test("gives up at once when the server asks for more than the deadline leaves", async () => {
    server.on(anything, status(429, "TooManyRequests", { "retry-after": "60" }));
    const error = await failureOf(client().find(configMaps, ref));
    expect(error).toMatchObject({ status: 429, retryAfterSeconds: 60 });
    expect(server.seen).toHaveLength(1);
  });

  test("gives up after four tries", async () => {
    server.on(anything, status(503, "ServiceUnavailable"));
    expect(isUnavailable(await failureOf(client().find(configMaps, ref)))).toBe(true);
    expect(server.seen).toHaveLength(4);
  });

  test("ends at its deadline when no answer comes", async () => {
    const clock = new TestClock();
    server.on(anything, silence);
    const error = failureOf(client({ clock, deadlineMs: 1_000 }).find(configMaps, ref));
    await until(() => server.seen.length === 1);
    clock.advance(1_000);
    expect(await error).toMatchObject({ status: 0, reason: "Timeout" });
    expect(clock.pending).toEqual([]);
  });

  test("ends with the caller's signal", async () => {
    const caller = new AbortController();
    server.on(anything, silence);
    const error = failureOf(client().find(configMaps, ref, { signal: caller.signal }));
    await until(() => server.seen.length === 1);
    caller.abort();
    expect(await error).toMatchObject({ status: 0, reason: "Aborted" });
    expect(isUnavailable(await error)).toBe(false);
  });

  test("reports a server that is not there as unreachable", async () => {
    const unreached = client();
    await server.close();
    const error = await failureOf(unreached.find(configMaps, ref));
    expect(error).toMatchObject({ status: 0, reason: "Unreachable" });
    expect(error.cause).toMatchObject({ code: "ECONNREFUSED" });
    server = await startFakeApiServer();
  });

  test("an answer that is no JSON is broken, and is not quoted", async () => {
    server.on(anything, (_request, response) => response.end("{ secret"));
    const error = await failureOf(client().find(configMaps, ref));
    expect(error.reason).toBe("BrokenAnswer");
    expect(JSON.stringify([error, error.message, String(error.cause)])).not.toContain("secret");
  });
});

describe("list", () => {
  test("keeps of every object what it is told to", async () => {
    server.on(anything, json(configMapList([configMap("a", "1", { data: { large: "x" } })], "9")));
    const keep = ({ data: _, ...object }: ConfigMap) => object;
    expect((await client().list(configMaps, { keep })).items).toEqual([configMap("a", "1")]);
  });

  test("gathers all pages and names the kind of every item", async () => {
    const { apiVersion: _a, kind: _k, ...bare } = configMap("a", "1");
    server.on((request) => !request.query.has("continue"), json(configMapList([bare as never], "9", "more")));
    server.on((request) => request.query.get("continue") === "more", json(configMapList([configMap("b", "2")], "9")));
    const list = await client().list(configMaps, { namespace: "ns", labelSelector: "x=y" });
    expect(list).toEqual({ items: [configMap("a", "1"), configMap("b", "2")], resourceVersion: "9" });
    expect(server.seen.map(({ query }) => [query.get("limit"), query.get("labelSelector")])).toEqual([
      ["100", "x=y"],
      ["100", "x=y"],
    ]);
  });

  test("starts again when a page token has expired", async () => {
    const first = json(configMapList([configMap("a", "1")], "9", "more"));
    server.on((request) => request.query.has("continue"), status(410, "Expired"), json(configMapList([], "10")));
    server.on(anything, first);
    expect((await client().list(configMaps)).items).toEqual([configMap("a", "1")]);
    expect(server.seen).toHaveLength(4);
  });
});

describe("writes", () => {
  test("create posts the complete object strictly, under the field manager", async () => {
    server.on(anything, json(configMap("a", "1"), 201));
    await client({ userAgent: "tester/2" }).create(configMaps, draft);
    const [seen] = server.seen;
    expect(seen).toMatchObject({ method: "POST", path: "/api/v1/namespaces/ns/configmaps" });
    expect(Object.fromEntries(seen?.query ?? [])).toEqual({ fieldManager: "tester", fieldValidation: "Strict" });
    expect(JSON.parse(seen?.body ?? "")).toEqual({ apiVersion: "v1", kind: "ConfigMap", ...draft });
  });

  test.each([
    { as: "merge", type: "application/merge-patch+json" },
    { as: "json", type: "application/json-patch+json" },
  ] as const)("patch as $as says so", async ({ as, type }) => {
    server.on(anything, json(configMap("a", "2")));
    const patched = await client().patch(configMaps, ref, { data: {} }, { as, subresource: "status" });
    expect(patched.metadata.resourceVersion).toBe("2");
    expect(server.seen[0]).toMatchObject({ method: "PATCH", path: "/api/v1/namespaces/ns/configmaps/a/status" });
    expect(server.seen[0]?.headers["content-type"]).toBe(type);
  });

  test("replace puts the object at its name", async () => {
    server.on(anything, json(configMap("a", "2")));
    await client().replace(configMaps, configMap("a", "1"));
    expect(server.seen[0]).toMatchObject({ method: "PUT", path: "/api/v1/namespaces/ns/configmaps/a" });
  });

  test("delete carries its preconditions", async () => {
    server.on(anything, json({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" }));
    const left = await client().delete(configMaps, ref, { uid: "u", resourceVersion: "3" });
    expect(left).toBe("gone");
    expect(JSON.parse(server.seen[0]?.body ?? "")).toMatchObject({
      kind: "DeleteOptions",
      preconditions: { uid: "u", resourceVersion: "3" },
    });
  });

  test("deleting what is not there is done already", async () => {
    server.on(anything, status(404, "NotFound"));
    expect(await client().delete(configMaps, ref)).toBe("gone");
  });

  test("delete answers the object that its finalizers keep", async () => {
    const kept = configMap("a", "4");
    server.on(anything, json({ ...kept, metadata: { ...kept.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }));
    expect(await client().delete(configMaps, ref)).toMatchObject({ metadata: { resourceVersion: "4" } });
  });

  test.each([
    { name: "503", answer: status(503, "ServiceUnavailable") },
    { name: "429", answer: status(429, "TooManyRequests") },
    { name: "a reset connection", answer: reset },
  ])("are never sent twice, not even after $name", async ({ answer }) => {
    server.on(anything, answer);
    expect(isUnavailable(await failureOf(client().create(configMaps, draft)))).toBe(true);
    expect(server.seen).toHaveLength(1);
  });

  test.each([
    { code: 409, reason: "AlreadyExists", is: isAlreadyExists, isNot: isConflict },
    { code: 409, reason: "Conflict", is: isConflict, isNot: isAlreadyExists },
    { code: 404, reason: "NotFound", is: isNotFound, isNot: isInvalid },
    { code: 403, reason: "Forbidden", is: isForbidden, isNot: isInvalid },
    { code: 422, reason: "Invalid", is: isInvalid, isNot: isUnavailable },
    { code: 500, reason: "InternalError", is: isUnavailable, isNot: isInvalid },
  ])(
    "$code $reason is told apart, and the server's sentence stays out of the message",
    async ({ code, reason, ...told }) => {
      server.on(anything, status(code, reason));
      const error = await failureOf(client().create(configMaps, draft));
      expect([told.is(error), told.isNot(error)]).toEqual([true, false]);
      expect(error.message).not.toContain("!");
      expect(error.detail()).toBe(`${reason}!`);
    },
  );
});

describe("the request seam", () => {
  test("sees every call and counts writes", async () => {
    const seen: KubeRequest[] = [];
    server.on(anything, json(configMap("a", "1")));
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
    server.on(anything, json(configMap("a", "1"), 201));
    const fault = new Error("killed");
    const before = client({ onRequest: () => Promise.reject(fault) });
    await expect(before.create(configMaps, draft)).rejects.toBe(fault);
    expect(server.seen).toHaveLength(0);
    const after = client({ onRequest: (_request, next) => next().then(() => Promise.reject(fault)) });
    await expect(after.create(configMaps, draft)).rejects.toBe(fault);
    expect(server.seen).toHaveLength(1);
  });

  test("a stream that it refuses after the server opened it is closed", async () => {
    const stream = new Stream();
    server.on(anything, stream.answer);
    const fault = new Error("killed");
    const killed = client({ onRequest: (_request, next) => next().then(() => Promise.reject(fault)) });
    const options = { resourceVersion: "1", timeoutSeconds: 60, signal: new AbortController().signal };
    await expect(killed.watch(configMaps, options)[Symbol.asyncIterator]().next()).rejects.toBe(fault);
    await until(() => stream.opened === 1 && !stream.isOpen);
  });

  const watching = (signal: AbortSignal) => ({ resourceVersion: "1", timeoutSeconds: 60, signal });

  test("may put another stream in the place of a watch's", async () => {
    const stream = new Stream();
    server.on(anything, stream.answer);
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
    server.on(anything, stream.answer);
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

describe("a client whose write guard closes", () => {
  function mandated(onRequest: RequestSeam = (_request, next) => next()) {
    const term = new AbortController();
    const state = { holds: true };
    const made = client({ onRequest, guard: { signal: term.signal, holds: () => state.holds } });
    return { made, term, state };
  }

  test("has its calls in flight cut, and begins none", async () => {
    server.on(anything, silence);
    const { made, term } = mandated();
    const inFlight = [failureOf(made.create(configMaps, draft)), failureOf(made.find(configMaps, ref))];
    await until(() => server.seen.length === 2);
    term.abort();
    const later = [failureOf(made.create(configMaps, draft)), failureOf(made.find(configMaps, ref))];
    const failures = await Promise.all([...inFlight, ...later]);
    expect(failures.map(({ reason }) => reason)).toEqual(Array(4).fill("Aborted"));
    expect(server.seen).toHaveLength(2);
  });

  test("sends no write that was held up until then; reads still go", async () => {
    server.on(anything, json(configMap("a", "1")));
    const release = Promise.withResolvers<void>();
    const { made, state } = mandated((_request, next) => release.promise.then(next));
    const write = failureOf(made.create(configMaps, draft));
    const read = made.find(configMaps, ref);
    state.holds = false;
    release.resolve();
    expect((await write).reason).toBe("Aborted");
    expect(await read).toEqual(configMap("a", "1"));
    expect(server.seen.map(({ method }) => method)).toEqual(["GET"]);
  });
});

describe("text", () => {
  test("stops at its limit, between characters", async () => {
    server.on(anything, (_request, response) => response.end("abc€def"));
    expect(await client().text("/log", { tail: "1" }, { limitBytes: 5 })).toBe("abc");
  });

  test("a refusal is an error", async () => {
    server.on(anything, status(403, "Forbidden"));
    expect(isForbidden(await failureOf(client().text("/log", {}, { limitBytes: 5 })))).toBe(true);
  });
});

describe("lines", () => {
  async function read(signal = new AbortController().signal): Promise<string[]> {
    const lines: string[] = [];
    for await (const line of client().lines("/log", { follow: "true" }, { signal })) lines.push(line);
    return lines;
  }

  test("come as they are written, whole, however the bytes are cut", async () => {
    const stream = new Stream();
    server.on(anything, stream.answer);
    const reading = read();
    await until(() => stream.isOpen, { what: "the stream" });
    for (const byte of Buffer.from("a€\n\nlast\ncut off")) stream.write(Buffer.from([byte]));
    stream.end();
    expect(await reading).toEqual(["a€", "", "last"]);
  });

  test("are cut where they are too long to be held", async () => {
    server.on(anything, (_request, response) => response.end(`${"x".repeat(200_000)}\nnext\n`));
    expect((await read()).map(({ length }) => length)).toEqual([65_536, 4]);
  });

  test("end with the signal, and with it the connection", async () => {
    const stream = new Stream();
    server.on(anything, stream.answer);
    const ending = new AbortController();
    const reading = failureOf(read(ending.signal));
    await until(() => stream.isOpen, { what: "the stream" });
    ending.abort();
    expect(await reading).toMatchObject({ reason: "Aborted" });
    await until(() => !stream.isOpen, { what: "the end of the connection" });
  });

  test("that are refused or cut off are an error", async () => {
    const stream = new Stream();
    server.on(anything, status(403, "Forbidden"), stream.answer);
    expect(isForbidden(await failureOf(read()))).toBe(true);
    const reading = failureOf(read());
    await until(() => stream.isOpen, { what: "the stream" });
    stream.reset();
    expect(await reading).toMatchObject({ status: 0 });
  });
});

test("the server's time is its own", async () => {
  server.on(anything, json({ major: "1" }, 200, { date: "Thu, 01 Jan 2026 00:00:00 GMT" }));
  expect(await client().serverTime()).toEqual(new Date("2026-01-01T00:00:00Z"));
});

test("connections are reused", async () => {
  server.on(anything, json(configMap("a", "1")));
  const pooled = client({ connections: 2 });
  for (let call = 0; call < 10; call += 1) await pooled.find(configMaps, ref);
  expect(server.openConnections).toBeLessThanOrEqual(2);
});

test("a deletion with preconditions leaves its connection to the next call", async () => {
  server.on(anything, json(configMap("a", "1")));
  const pooled = client({ connections: 1 });
  for (let call = 0; call < 5; call += 1) await pooled.delete(configMaps, ref, { uid: "uid" });
  expect(server.connectionsSoFar).toBe(1);
});

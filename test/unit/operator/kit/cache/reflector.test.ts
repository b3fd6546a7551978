import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { createObjectCache } from "../../../../../operator/kit/cache/indexed-cache.ts";
import type { CacheFeed, ObjectCache } from "../../../../../operator/kit/cache/object-cache.ts";
import { createReflector, type Reflector } from "../../../../../operator/kit/cache/reflector.ts";
import { createKubeClient } from "../../../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../../../../operator/kit/client/kube-client.ts";
import type { Log } from "../../../../../operator/kit/log.ts";
import {
  type Answer,
  type FakeApiServer,
  json,
  reset,
  type SeenRequest,
  Stream,
  startFakeApiServer,
  status,
} from "../../../../support/doubles/fake-api-server.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { type ConfigMap, configMap, configMapList, configMaps } from "../../../../support/fixtures/config-maps.ts";
import { type LogLine, recordedLog } from "../../../../support/fixtures/recorded-log.ts";
import { until } from "../../../../support/fixtures/until.ts";

// Waits inside have deadlines of their own, which say what did not happen.
jest.setTimeout(30_000);

/** How the server answers lists: as the beginning of a watch, or, because it refuses that, page by page. */
type Way = "streamed" | "in pages";

const isStreamedList = ({ query }: SeenRequest) => query.get("sendInitialEvents") === "true";
const isPage = ({ query }: SeenRequest) => query.get("watch") !== "true";
const isWatch = (request: SeenRequest) => !isStreamedList(request) && !isPage(request);

/** More than the longest pause of the backoff, and less than any deadline. */
const LONGEST_PAUSE_MS = 6_000;

let server: FakeApiServer;
let clock: TestClock;
let client: KubeClient;
let cache: ObjectCache<ConfigMap> & CacheFeed<ConfigMap>;
let reflector: Reflector;
let changes: string[];
let log: Log;
let logged: readonly LogLine[];
let way: Way;
/** What lists answer from now on, once `started`. */
let listAnswer: Answer;

beforeEach(async () => {
  server = await startFakeApiServer();
  clock = new TestClock();
  client = createKubeClient({ kubeConfig: server.kubeConfig, random: () => 0 });
  cache = createObjectCache<ConfigMap>({ clock });
  changes = [];
  cache.subscribe((key, current, previous) => {
    const version = (object: ConfigMap | undefined) => object?.metadata.resourceVersion ?? "none";
    changes.push(`${key}: ${version(previous)} -> ${version(current)}`);
  });
  ({ log, lines: logged } = recordedLog());
  reflector = createReflector({ client, type: configMaps, cache, log, clock, random: () => 0 });
});

afterEach(async () => {
  await reflector.stop();
  await client.close();
  await server.close();
});

const watches = () => server.seen.filter(isWatch);
/** Why the collection was listed, each time. */
const reasons = () => logged.filter(({ message }) => message === "a list begins").map(({ reason }) => reason);
const failures = () => logged.filter(({ message }) => /^a (list|watch) failed$/.test(message)).length;
const ignored = () => logged.filter(({ message }) => message === "an event was ignored").length;
const versionOf = (name: string) => cache.get(`ns/${name}`)?.metadata.resourceVersion;

const line = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;
/** The bookmark after the last of the events that a watch begins with. */
const endOfAll = (resourceVersion: string) => {
  const annotations = { "k8s.io/initial-events-end": "true" };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { resourceVersion, annotations } };
};

/** Lets pauses of the backoff pass, and nothing else, until the condition holds. */
async function untilAfterPauses(condition: () => boolean): Promise<void> {
  await until(() => {
    if (condition()) return true;
    const [shortest] = clock.pending;
    if (shortest !== undefined && shortest <= LONGEST_PAUSE_MS && clock.pending.length === 1) clock.advanceToNext();
    return condition();
  });
}

/** Whether bytes have come since the clock was advanced last. */
const hasProgressed = () => reflector.status().lastProgressAt === clock.monotonicMs();

const WAYS: readonly Way[] = ["streamed", "in pages"];

function listsCome(given: Way): void {
  beforeEach(() => {
    way = given;
    if (way === "in pages") server.on(isStreamedList, status(422, "Invalid"));
  });
}

const isList = (request: SeenRequest) => (way === "streamed" ? isStreamedList(request) : isPage(request));
const lists = () => server.seen.filter(isList);

/** Starts on a list of one object at version 1, with a watch that the test feeds. */
async function started(...watchAnswers: readonly Answer[]): Promise<Stream> {
  const stream = new Stream();
  replaceList([configMap("a", "1")], "1");
  server.on(isList, (request, response) => listAnswer(request, response));
  server.on(isWatch, stream.answer, ...watchAnswers);
  reflector.start();
  await until(() => stream.isOpen, { what: "the first watch" });
  return stream;
}

function replaceList(items: readonly ConfigMap[], version: string): void {
  listAnswer = listed(items, version);
}

function listed(items: readonly ConfigMap[], version: string): Answer {
  if (way === "in pages") return json(configMapList(items, version));
  return (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write(items.map((item) => line("ADDED", item)).join("") + line("BOOKMARK", endOfAll(version)));
  };
}

describe.each(WAYS)("list and watch (lists come %s)", (way) => {
  listsCome(way);

  test("lists consistently, then watches on from there with bookmarks", async () => {
    const stream = await started();
    expect(cache.synced).toBe(true);
    expect(cache.list()).toEqual([configMap("a", "1")]);
    expect(lists()[0]?.query.has("resourceVersion")).toBe(false);
    expect(Object.fromEntries(watches()[0]?.query ?? [])).toEqual({
      watch: "true",
      allowWatchBookmarks: "true",
      resourceVersion: "1",
      timeoutSeconds: "30",
    });
    stream.event("ADDED", configMap("b", "2"));
    stream.event("MODIFIED", configMap("a", "3"));
    stream.event("DELETED", configMap("b", "4"));
    await until(() => versionOf("a") === "3" && versionOf("b") === undefined);
    expect(changes).toEqual(["ns/a: none -> 1", "ns/b: none -> 2", "ns/a: 1 -> 3", "ns/b: 2 -> none"]);
  });

  test.each([
    { name: "500", answer: status(500, "InternalError") },
    { name: "a reset", answer: reset },
  ])("a list that fails with $name is tried again after a pause", async ({ answer }) => {
    const stream = new Stream();
    server.on(isList, answer, answer, answer, answer, listed([], "1"));
    server.on(isWatch, stream.answer);
    reflector.start();
    await untilAfterPauses(() => cache.synced);
    expect(failures()).toBeGreaterThan(0);
  });

  test("a list that is told to wait waits", async () => {
    server.on(isList, status(429, "TooManyRequests", { "retry-after": "60" }), listed([], "1"));
    server.on(isWatch, new Stream().answer);
    reflector.start();
    await until(() => clock.pending.includes(60_000));
    expect(lists()).toHaveLength(1);
    clock.advance(60_000);
    await until(() => cache.synced);
  });
});

describe.each(WAYS)("a watch that ends goes on from the last version, without a list (lists come %s)", (way) => {
  listsCome(way);

  test("after a polite end", async () => {
    const second = new Stream();
    const stream = await started(second.answer);
    stream.event("MODIFIED", configMap("a", "5"));
    await until(() => versionOf("a") === "5");
    stream.end();
    await until(() => second.isOpen);
    expect(watches()[1]?.query.get("resourceVersion")).toBe("5");
    expect(lists()).toHaveLength(1);
  });

  test("after a reset in mid-stream", async () => {
    const second = new Stream();
    const stream = await started(second.answer);
    clock.advance(1);
    stream.event("BOOKMARK", configMap("", "7"));
    await until(hasProgressed);
    stream.reset();
    await until(() => second.isOpen);
    expect(watches()[1]?.query.get("resourceVersion")).toBe("7");
    expect(lists()).toHaveLength(1);
    expect(changes).toEqual(["ns/a: none -> 1"]);
  });

  test("within a minute of the moment at which its connection became half open", async () => {
    const second = new Stream();
    // The longest watch that is ever asked for.
    const slow = createReflector({ client, type: configMaps, cache, log, clock, random: () => 0.999 });
    await reflector.stop();
    reflector = slow;
    const stream = await started(second.answer);
    clock.advance(1);
    stream.event("BOOKMARK", configMap("", "8"));
    await until(hasProgressed);
    clock.advance(48_999);
    expect(stream.opened).toBe(1);
    clock.advance(11_000);
    await until(() => second.isOpen);
    expect(clock.monotonicMs()).toBeLessThanOrEqual(60_000);
    expect(watches().map(({ query }) => [query.get("timeoutSeconds"), query.get("resourceVersion")])).toEqual([
      ["49", "1"],
      ["49", "8"],
    ]);
    expect(lists()).toHaveLength(1);
  });

  test("and begins anew every minute or so, also while the API server is away: so it is seen to be alive", async () => {
    const stream = await started(reset);
    stream.end();
    for (let minute = 0; minute < 5; minute += 1) {
      clock.advance(60_000);
      await until(() => clock.monotonicMs() - (reflector.status().lastBegunAt ?? 0) < 15_000);
    }
    expect(reflector.status().lastProgressAt).toBe(0);
  });

  test("when the server goes on and on and forgets to end it", async () => {
    const second = new Stream();
    const stream = await started(second.answer);
    for (let version = 2; version <= 4; version += 1) {
      clock.advance(10_000);
      stream.event("BOOKMARK", configMap("", String(version)));
      await until(hasProgressed);
    }
    clock.advance(5_000);
    await until(() => second.isOpen);
    expect(watches()[1]?.query.get("resourceVersion")).toBe("4");
    expect(lists()).toHaveLength(1);
  });

  test("after a line that was cut off, without taking it", async () => {
    const second = new Stream();
    const stream = await started(second.answer);
    stream.write(JSON.stringify({ type: "ADDED", object: configMap("b", "2") }).slice(0, -5));
    stream.end();
    await untilAfterPauses(() => second.isOpen);
    expect(watches()[1]?.query.get("resourceVersion")).toBe("1");
    expect(cache.get("ns/b")).toBeUndefined();
    second.event("ADDED", configMap("b", "2"));
    await until(() => versionOf("b") === "2");
  });

  test("after 429, when the time that the server asked for has passed", async () => {
    const second = new Stream();
    const stream = await started(status(429, "TooManyRequests", { "retry-after": "11" }), second.answer);
    stream.event("MODIFIED", configMap("a", "2"));
    await until(() => versionOf("a") === "2");
    stream.end();
    await until(() => clock.pending.includes(11_000));
    expect(second.opened).toBe(0);
    clock.advance(11_000);
    await until(() => second.isOpen);
    expect(lists()).toHaveLength(1);
  });

  test("after 500 in the stream, for a minute; then it lists", async () => {
    const broken: Answer = (_request, response) => {
      response.end(
        `${JSON.stringify({ type: "ERROR", object: { kind: "Status", code: 500, reason: "InternalError" } })}\n`,
      );
    };
    const stream = await started(broken);
    stream.event("ERROR", { kind: "Status", code: 500, reason: "InternalError" });
    await untilAfterPauses(() => watches().length === 4);
    expect(lists()).toHaveLength(1);
    await untilAfterPauses(() => lists().length === 2);
    expect(clock.monotonicMs()).toBeGreaterThan(60_000);
    expect(reasons()).toEqual(["start", "internal"]);
  });
});

describe.each(WAYS)("a watch that can't go on lists again (lists come %s)", (way) => {
  listsCome(way);

  test.each([
    {
      name: "410 in the stream",
      end: (stream: Stream) => stream.event("ERROR", { kind: "Status", code: 410, reason: "Expired" }),
      next: [],
    },
    { name: "410 on the connect", end: (stream: Stream) => stream.end(), next: [status(410, "Expired")] },
  ])("after $name, and reports what was deleted meanwhile", async ({ end, next }) => {
    const last = new Stream();
    const stream = await started(...next, last.answer);
    stream.event("ADDED", configMap("b", "2"));
    await until(() => versionOf("b") === "2");
    replaceList([configMap("b", "9")], "9");
    end(stream);
    await untilAfterPauses(() => last.isOpen);
    expect(changes).toEqual(["ns/a: none -> 1", "ns/b: none -> 2", "ns/a: 1 -> none", "ns/b: 2 -> 9"]);
    expect(watches().at(-1)?.query.get("resourceVersion")).toBe("9");
    expect(reasons()).toEqual(["start", "expired"]);
  });

  test("a key whose object is another one now was deleted and made", async () => {
    const second = new Stream();
    const stream = await started(second.answer);
    replaceList([configMap("a", "9", { uid: "another" })], "9");
    stream.event("ERROR", { kind: "Status", code: 410, reason: "Expired" });
    await untilAfterPauses(() => second.isOpen);
    expect(changes.slice(1)).toEqual(["ns/a: 1 -> none", "ns/a: none -> 9"]);
  });

  test("when the watch is refused for another reason", async () => {
    const second = new Stream();
    const stream = await started(status(403, "Forbidden"), second.answer);
    stream.event("MODIFIED", configMap("a", "2"));
    await until(() => versionOf("a") === "2");
    stream.end();
    await untilAfterPauses(() => second.isOpen);
    expect(reasons()).toEqual(["start", "refused"]);
  });

  test("when a stream breaks at the same place again and again", async () => {
    const garbage: Answer = (_request, response) => response.end("garbage\n");
    const stream = await started(garbage, garbage, garbage, garbage, new Stream().answer);
    stream.write("garbage\n");
    await untilAfterPauses(() => lists().length === 2);
    const between = server.seen.slice(server.seen.findIndex(isList) + 1, server.seen.findLastIndex(isList));
    expect(between.filter(isWatch)).toHaveLength(5);
    expect(reasons()).toEqual(["start", "broken"]);
  });

  test("when the watch does not deliver a write of ours", async () => {
    const second = new Stream();
    await started(second.answer);
    cache.written(configMap("a", "5"));
    replaceList([configMap("a", "6")], "6");
    clock.advance(15_000);
    await untilAfterPauses(() => second.isOpen);
    expect(versionOf("a")).toBe("6");
    expect(reasons()).toEqual(["start", "unconfirmed"]);
  });

  test("every half hour or so, as a safety net", async () => {
    const stream = await started(new Stream().answer);
    stream.event("MODIFIED", configMap("a", "2"));
    await until(() => versionOf("a") === "2");
    replaceList([configMap("a", "2")], "2");
    clock.advance(1_800_000);
    await until(() => lists().length === 2);
    expect(reasons()).toEqual(["start", "routine"]);
  });
});

describe.each(WAYS)("what it does not trust (lists come %s)", (way) => {
  listsCome(way);

  test("a watch that ends at once without an event is a failure, and waits", async () => {
    const stream = await started(new Stream().answer);
    stream.end();
    await until(() => clock.pending.includes(800));
    expect(watches()).toHaveLength(1);
    expect(failures()).toBe(1);
    clock.advance(800);
    await until(() => watches().length === 2);
  });

  test("pauses grow to six seconds, and are short again after two healthy minutes", async () => {
    const hasty: Answer = (_request, response) => response.end();
    const last = new Stream();
    const stream = await started(hasty, hasty, hasty, hasty, hasty, hasty, last.answer);
    stream.end();
    const pauses: number[] = [];
    while (!last.isOpen) {
      await until(() => last.isOpen || (clock.pending.length === 1 && clock.pending[0] !== 5_000));
      if (last.isOpen) break;
      pauses.push(clock.pending[0] ?? Number.NaN);
      clock.advanceToNext();
    }
    expect(pauses).toEqual([800, 1_600, 3_200, 6_000, 6_000, 6_000, 6_000]);
    for (let opened = 1; opened <= 4; opened += 1) {
      clock.advance(35_000);
      await until(() => last.opened === opened + 1 && last.isOpen);
    }
    last.end();
    await until(() => clock.pending.includes(800));
  });

  test("events of another kind and unknown types are counted and left out", async () => {
    const stream = await started();
    stream.event("ADDED", { ...configMap("x", "2"), kind: "Secret" });
    stream.event("SURPRISE", configMap("y", "3"));
    await until(() => ignored() === 2);
    expect(cache.size).toBe(1);
  });

  test("events that are repeated or out of order never show an older version", async () => {
    const stream = await started();
    stream.event("MODIFIED", configMap("a", "3"));
    stream.event("MODIFIED", configMap("a", "1"));
    stream.event("ADDED", configMap("b", "5"));
    stream.event("ADDED", configMap("b", "5"));
    stream.event("DELETED", configMap("b", "6"));
    stream.event("MODIFIED", configMap("b", "5"));
    stream.event("DELETED", configMap("b", "6"));
    stream.event("ADDED", configMap("end", "7"));
    await until(() => versionOf("end") === "7");
    expect(changes).toEqual([
      "ns/a: none -> 1",
      "ns/a: 1 -> 3",
      "ns/b: none -> 5",
      "ns/b: 5 -> none",
      "ns/end: none -> 7",
    ]);
  });

  test("a character that two chunks share arrives whole", async () => {
    const stream = await started();
    const line = Buffer.from(
      `${JSON.stringify({ type: "ADDED", object: configMap("b", "2", { data: { price: "5 €" } }) })}\n`,
    );
    const middle = line.indexOf(Buffer.from("€")) + 1;
    stream.write(line.subarray(0, middle));
    await until(() => reflector.status().lastProgressAt !== undefined);
    stream.write(line.subarray(middle));
    await until(() => cache.get("ns/b")?.data?.price === "5 €");
  });

  test("a list that began before a write of ours does not hide it", async () => {
    const second = new Stream();
    let finish: () => void = () => undefined;
    const stream = await started(second.answer);
    listAnswer = (request, response) => {
      finish = () => listed([configMap("a", "1")], "1")(request, response);
    };
    stream.event("ERROR", { kind: "Status", code: 410, reason: "Expired" });
    await untilAfterPauses(() => lists().length === 2);
    cache.written(configMap("a", "2"));
    finish();
    await until(() => second.isOpen);
    expect(versionOf("a")).toBe("2");
    second.event("MODIFIED", configMap("a", "2"));
    second.event("MODIFIED", configMap("a", "3"));
    await until(() => versionOf("a") === "3");
    expect(changes).toEqual(["ns/a: none -> 1", "ns/a: 1 -> 2", "ns/a: 2 -> 3"]);
  });

  test("a restored API server may go back in time", async () => {
    const second = new Stream();
    const stream = await started(second.answer);
    stream.event("MODIFIED", configMap("a", "5"));
    await until(() => versionOf("a") === "5");
    replaceList([configMap("a", "1")], "1");
    stream.event("ERROR", { kind: "Status", code: 410, reason: "Expired" });
    await untilAfterPauses(() => second.isOpen);
    expect(versionOf("a")).toBe("1");
    second.event("MODIFIED", configMap("a", "5"));
    await until(() => versionOf("a") === "5");
  });
});

describe.each(WAYS)("stop (lists come %s)", (way) => {
  listsCome(way);

  test("ends the stream and every timer", async () => {
    const stream = await started();
    await reflector.stop();
    await until(() => !stream.isOpen);
    expect(clock.pending).toEqual([]);
  });

  test("ends a pause at once", async () => {
    server.on(isList, status(403, "Forbidden"));
    reflector.start();
    await until(() => clock.pending.includes(800));
    await reflector.stop();
    expect(clock.pending).toEqual([]);
  });
});

describe("a collection that comes in pages", () => {
  const pages = () => server.seen.filter(isPage);

  beforeEach(() => server.on(isStreamedList, status(422, "Invalid")));

  test("is not synced before every page of the list has come", async () => {
    let finish: () => void = () => undefined;
    server.on(isPage, json(configMapList([configMap("a", "1")], "1", "more")), (request, response) => {
      finish = () => json(configMapList([configMap("b", "1")], "1"))(request, response);
    });
    server.on(isWatch, new Stream().answer);
    reflector.start();
    await until(() => pages().length === 2);
    expect([cache.synced, cache.size]).toEqual([false, 0]);
    finish();
    await cache.whenSynced(AbortSignal.timeout(5_000));
    expect(cache.size).toBe(2);
  });

  test("a page token that expires restarts the list; nothing partial shows", async () => {
    server.on(isWatch, new Stream().answer);
    server.on(({ query }) => query.has("continue"), status(410, "Expired"));
    server.on(
      isPage,
      json(configMapList([configMap("old", "1")], "1", "more")),
      json(configMapList([configMap("a", "2")], "2")),
    );
    reflector.start();
    await until(() => cache.synced);
    expect(changes).toEqual(["ns/a: none -> 2"]);
  });
});

describe("a collection that is streamed", () => {
  let stream: Stream;

  beforeEach(() => {
    stream = new Stream();
    server.on(isPage, json(configMapList([configMap("paged", "9")], "9")));
    server.on(isWatch, new Stream().answer);
  });

  async function begun(): Promise<void> {
    server.on(isStreamedList, stream.answer);
    reflector.start();
    await until(() => stream.isOpen, { what: "the stream" });
  }

  test("is asked for from the newest state, shows when it is complete, and is watched on from there", async () => {
    await begun();
    expect(Object.fromEntries(server.seen[0]?.query ?? [])).toEqual({
      watch: "true",
      allowWatchBookmarks: "true",
      sendInitialEvents: "true",
      resourceVersionMatch: "NotOlderThan",
      timeoutSeconds: "300",
    });
    stream.event("ADDED", configMap("a", "1"));
    stream.event("BOOKMARK", configMap("", "1"));
    stream.event("ADDED", configMap("b", "2"));
    await until(() => reflector.status().lastProgressAt !== undefined);
    expect([cache.synced, cache.size]).toEqual([false, 0]);
    stream.event("BOOKMARK", endOfAll("3"));
    await until(() => watches().length === 1);
    expect(changes).toEqual(["ns/a: none -> 1", "ns/b: none -> 2"]);
    expect(watches()[0]?.query.get("resourceVersion")).toBe("3");
    await until(() => !stream.isOpen, { what: "the end of the stream" });
    expect(server.seen.filter(isPage)).toEqual([]);
  });

  test("holds what changes while it comes, in every version", async () => {
    await begun();
    cache.written(configMap("a", "2"));
    stream.event("ADDED", configMap("a", "1"));
    stream.event("ADDED", configMap("b", "1"));
    stream.event("ADDED", { ...configMap("x", "2"), kind: "Secret" });
    stream.event("MODIFIED", configMap("a", "2"));
    stream.event("MODIFIED", configMap("a", "3"));
    stream.event("DELETED", configMap("b", "4"));
    stream.event("BOOKMARK", endOfAll("5"));
    await until(() => watches().length === 1);
    expect([cache.list(), cache.oldestUnconfirmedMs()]).toEqual([[configMap("a", "3")], undefined]);
    expect([watches()[0]?.query.get("resourceVersion"), ignored()]).toEqual(["5", 1]);
  });

  test("may take long, as long as it comes", async () => {
    await begun();
    for (let version = 1; version <= 10; version += 1) {
      clock.advance(9_000);
      stream.event("ADDED", configMap(`slow-${version}`, String(version)));
      await until(hasProgressed);
    }
    stream.event("BOOKMARK", endOfAll("11"));
    await until(() => cache.synced);
    expect(cache.size).toBe(10);
  });

  test.each<{ name: string; answer: Answer }>([
    { name: "is refused as invalid", answer: status(422, "Invalid") },
    { name: "is refused as unreadable", answer: status(400, "BadRequest") },
    {
      name: "can't be had",
      answer: (_request, response) => {
        response.end(line("ERROR", { kind: "Status", code: 500, reason: "InternalError" }));
      },
    },
    {
      name: "ends before all came",
      answer: (_request, response) => {
        response.end(line("ADDED", configMap("half", "1")));
      },
    },
    { name: "breaks", answer: (_request, response) => response.end("garbage\n") },
    {
      name: "is reset",
      answer: (request, response) => {
        response.write(line("ADDED", configMap("half", "1")));
        setImmediate(() => reset(request, response));
      },
    },
  ])("and $name comes in pages instead, at once", async ({ answer }) => {
    server.on(isStreamedList, answer);
    reflector.start();
    await until(() => cache.synced);
    expect([cache.list(), failures()]).toEqual([[configMap("paged", "9")], 0]);
  });

  test.each([
    { name: "stands still", events: [configMap("half", "1")] },
    { name: "never says that this was all", events: [configMap("a", "1"), configMap("b", "2")] },
    { name: "does not begin", events: [] },
  ])("and $name comes in pages after ten seconds", async ({ events }) => {
    await begun();
    // As one chunk, so that nothing comes after the first sign of it.
    stream.write(events.map((object) => line("ADDED", object)).join(""));
    if (events.length > 0) await until(() => reflector.status().lastProgressAt !== undefined);
    clock.advance(9_999);
    expect(server.seen.filter(isPage)).toEqual([]);
    clock.advance(1);
    await until(() => cache.synced);
    expect(cache.list()).toEqual([configMap("paged", "9")]);
  });

  test("is never asked for in pages by who is told to wait", async () => {
    server.on(isStreamedList, status(429, "TooManyRequests", { "retry-after": "7" }));
    reflector.start();
    await until(() => clock.pending.includes(7_000));
    expect(server.seen).toHaveLength(1);
  });

  test("ends with the reflector, and leaves nothing behind", async () => {
    await begun();
    stream.event("ADDED", configMap("half", "1"));
    await reflector.stop();
    await until(() => !stream.isOpen);
    expect([clock.pending, cache.size, server.seen.length]).toEqual([[], 0, 1]);
  });
});

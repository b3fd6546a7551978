import { beforeEach, describe, expect, jest, test } from "@jest/globals";
import { type Answer, json, reset, Stream, status } from "../../../../support/doubles/fake-api-server.ts";
import { configMap, configMapList } from "../../../../support/fixtures/config-maps.ts";
import { until } from "../../../../support/fixtures/until.ts";
import { endOfAll, isPage, isStreamedList, isWatch, line, reflectedCollection } from "./reflected-collection.ts";

// Longer than the deadlines of inner waits.
jest.setTimeout(30_000);

const world = reflectedCollection();
const { watches, failures, ignored, hasProgressed } = world;

describe("a collection that is streamed", () => {
  let stream: Stream;

  beforeEach(() => {
    stream = new Stream();
    world.server.on(isPage, json(configMapList([configMap("paged", "9")], "9")));
    world.server.on(isWatch, new Stream().answer);
  });

  async function begun(): Promise<void> {
    world.server.on(isStreamedList, stream.answer);
    world.reflector.start();
    await until(() => stream.isOpen, { what: "the stream" });
  }

  test("is asked for from the newest state, shows when it is complete, and is watched on from there", async () => {
    await begun();
    expect(Object.fromEntries(world.server.seen[0]?.query ?? [])).toEqual({
      watch: "true",
      allowWatchBookmarks: "true",
      sendInitialEvents: "true",
      resourceVersionMatch: "NotOlderThan",
      timeoutSeconds: "300",
    });
    stream.event("ADDED", configMap("a", "1"));
    stream.event("BOOKMARK", configMap("", "1"));
    stream.event("ADDED", configMap("b", "2"));
    await until(() => world.reflector.status().lastProgressAt !== undefined);
    expect([world.cache.synced, world.cache.list().length]).toEqual([false, 0]);
    stream.event("BOOKMARK", endOfAll("3"));
    await until(() => watches().length === 1);
    expect(world.changes).toEqual(["ns/a: none -> 1", "ns/b: none -> 2"]);
    expect(watches()[0]?.query.get("resourceVersion")).toBe("3");
    await until(() => !stream.isOpen, { what: "the end of the stream" });
    expect(world.server.seen.filter(isPage)).toEqual([]);
  });

  test("holds what changes while it comes, in every version", async () => {
    await begun();
    world.cache.written(configMap("a", "2"));
    stream.event("ADDED", configMap("a", "1"));
    stream.event("ADDED", configMap("b", "1"));
    stream.event("ADDED", { ...configMap("x", "2"), kind: "Secret" });
    stream.event("MODIFIED", configMap("a", "2"));
    stream.event("MODIFIED", configMap("a", "3"));
    stream.event("DELETED", configMap("b", "4"));
    stream.event("BOOKMARK", endOfAll("5"));
    await until(() => watches().length === 1);
    expect([world.cache.list(), world.cache.oldestUnconfirmedMs()]).toEqual([[configMap("a", "3")], undefined]);
    expect([watches()[0]?.query.get("resourceVersion"), ignored()]).toEqual(["5", 1]);
  });

  test("may take long, as long as it comes", async () => {
    await begun();
    for (let version = 1; version <= 10; version += 1) {
      world.clock.advance(9_000);
      stream.event("ADDED", configMap(`slow-${version}`, String(version)));
      await until(hasProgressed);
    }
    stream.event("BOOKMARK", endOfAll("11"));
    await until(() => world.cache.synced);
    expect(world.cache.list().length).toBe(10);
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
    world.server.on(isStreamedList, answer);
    world.reflector.start();
    await until(() => world.cache.synced);
    expect([world.cache.list(), failures()]).toEqual([[configMap("paged", "9")], 0]);
  });

  test.each([
    { name: "stands still", events: [configMap("half", "1")] },
    { name: "never says that this was all", events: [configMap("a", "1"), configMap("b", "2")] },
    { name: "does not begin", events: [] },
  ])("and $name comes in pages after ten seconds", async ({ events }) => {
    await begun();
    // As one chunk, so that nothing comes after its beginning.
    stream.write(events.map((object) => line("ADDED", object)).join(""));
    if (events.length > 0) await until(() => world.reflector.status().lastProgressAt !== undefined);
    world.clock.advance(9_999);
    expect(world.server.seen.filter(isPage)).toEqual([]);
    world.clock.advance(1);
    await until(() => world.cache.synced);
    expect(world.cache.list()).toEqual([configMap("paged", "9")]);
  });

  test("is never asked for in pages by a client that has to wait", async () => {
    world.server.on(isStreamedList, status(429, "TooManyRequests", { "retry-after": "7" }));
    world.reflector.start();
    await until(() => world.clock.pending.includes(7_000));
    expect(world.server.seen).toHaveLength(1);
  });

  test("ends with the reflector, and leaves nothing behind", async () => {
    await begun();
    stream.event("ADDED", configMap("half", "1"));
    await world.reflector.stop();
    await until(() => !stream.isOpen);
    expect([world.clock.pending, world.cache.list().length, world.server.seen.length]).toEqual([[], 0, 1]);
  });
});

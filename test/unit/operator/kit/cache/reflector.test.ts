import { beforeEach, describe, expect, jest, test } from "@jest/globals";
import { json, reset, Stream, status } from "../../../../support/doubles/fake-api-server.ts";
import { configMap, configMapList } from "../../../../support/fixtures/config-maps.ts";
import { until } from "../../../../support/fixtures/until.ts";
import { isPage, isStreamedList, isWatch, reflectedCollection, WAYS } from "./reflected-collection.ts";

// Longer than the deadlines of inner waits.
jest.setTimeout(30_000);

const world = reflectedCollection();
const { watches, failures, versionOf, untilAfterPauses, listsCome, isList, lists, started, listed } = world;

describe.each(WAYS)("list and watch (lists come %s)", (way) => {
  listsCome(way);

  test("lists consistently, then watches on from there with bookmarks", async () => {
    const stream = await started();
    expect(world.cache.synced).toBe(true);
    expect(world.cache.list()).toEqual([configMap("a", "1")]);
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
    expect(world.changes).toEqual(["ns/a: none -> 1", "ns/b: none -> 2", "ns/a: 1 -> 3", "ns/b: 2 -> none"]);
  });

  test.each([
    { name: "500", answer: status(500, "InternalError") },
    { name: "a reset", answer: reset },
  ])("a list that fails with $name is tried again after a pause", async ({ answer }) => {
    const stream = new Stream();
    world.server.on(isList, answer, answer, answer, answer, listed([], "1"));
    world.server.on(isWatch, stream.answer);
    world.reflector.start();
    await untilAfterPauses(() => world.cache.synced);
    expect(failures()).toBeGreaterThan(0);
  });

  test("a list with Retry-After waits", async () => {
    world.server.on(isList, status(429, "TooManyRequests", { "retry-after": "60" }), listed([], "1"));
    world.server.on(isWatch, new Stream().answer);
    world.reflector.start();
    await until(() => world.clock.pending.includes(60_000));
    expect(lists()).toHaveLength(1);
    world.clock.advance(60_000);
    await until(() => world.cache.synced);
  });
});

describe.each(WAYS)("stop (lists come %s)", (way) => {
  listsCome(way);

  test("ends the stream and every timer", async () => {
    const stream = await started();
    await world.reflector.stop();
    await until(() => !stream.isOpen);
    expect(world.clock.pending).toEqual([]);
  });

  test("ends a pause at once", async () => {
    world.server.on(isList, status(403, "Forbidden"));
    world.reflector.start();
    await until(() => world.clock.pending.includes(800));
    await world.reflector.stop();
    expect(world.clock.pending).toEqual([]);
  });
});

describe("a collection that comes in pages", () => {
  const pages = () => world.server.seen.filter(isPage);

  beforeEach(() => world.server.on(isStreamedList, status(422, "Invalid")));

  test("is not synced before every page of the list has come", async () => {
    let finish: () => void = () => undefined;
    world.server.on(isPage, json(configMapList([configMap("a", "1")], "1", "more")), (request, response) => {
      finish = () => json(configMapList([configMap("b", "1")], "1"))(request, response);
    });
    world.server.on(isWatch, new Stream().answer);
    world.reflector.start();
    await until(() => pages().length === 2);
    expect([world.cache.synced, world.cache.list().length]).toEqual([false, 0]);
    finish();
    await world.cache.whenSynced(AbortSignal.timeout(5_000));
    expect(world.cache.list().length).toBe(2);
  });

  test("a page token that expires restarts the list; nothing partial shows", async () => {
    world.server.on(isWatch, new Stream().answer);
    world.server.on(({ query }) => query.has("continue"), status(410, "Expired"));
    world.server.on(
      isPage,
      json(configMapList([configMap("old", "1")], "1", "more")),
      json(configMapList([configMap("a", "2")], "2")),
    );
    world.reflector.start();
    await until(() => world.cache.synced);
    expect(world.changes).toEqual(["ns/a: none -> 2"]);
  });
});

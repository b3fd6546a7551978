import { describe, expect, jest, test } from "@jest/globals";
import { createReflector } from "../../../../../operator/kit/cache/reflector.ts";
import { type Answer, reset, Stream, status } from "../../../../support/doubles/fake-api-server.ts";
import { configMap, configMaps } from "../../../../support/fixtures/config-maps.ts";
import { until } from "../../../../support/fixtures/until.ts";
import { reflectedCollection, WAYS } from "./reflected-collection.ts";

// Longer than the deadlines of inner waits.
jest.setTimeout(30_000);

const world = reflectedCollection();
const { watches, reasons, versionOf, untilAfterPauses, hasProgressed, listsCome, lists, started } = world;

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
    world.clock.advance(1);
    stream.event("BOOKMARK", configMap("", "7"));
    await until(hasProgressed);
    stream.reset();
    await until(() => second.isOpen);
    expect(watches()[1]?.query.get("resourceVersion")).toBe("7");
    expect(lists()).toHaveLength(1);
    expect(world.changes).toEqual(["ns/a: none -> 1"]);
  });

  test("within a minute of the moment at which its connection became half open", async () => {
    const second = new Stream();
    // The longest requested watch.
    const slow = createReflector({
      client: world.client,
      type: configMaps,
      cache: world.cache,
      log: world.log,
      clock: world.clock,
      random: () => 0.999,
    });
    await world.reflector.stop();
    world.reflector = slow;
    const stream = await started(second.answer);
    world.clock.advance(1);
    stream.event("BOOKMARK", configMap("", "8"));
    await until(hasProgressed);
    world.clock.advance(48_999);
    expect(stream.opened).toBe(1);
    world.clock.advance(11_000);
    await until(() => second.isOpen);
    expect(world.clock.monotonicMs()).toBeLessThanOrEqual(60_000);
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
      world.clock.advance(60_000);
      await until(() => world.clock.monotonicMs() - (world.reflector.status().lastBegunAt ?? 0) < 15_000);
    }
    expect(world.reflector.status().lastProgressAt).toBe(0);
  });

  test("when the server goes on and on and forgets to end it", async () => {
    const second = new Stream();
    const stream = await started(second.answer);
    for (let version = 2; version <= 4; version += 1) {
      world.clock.advance(10_000);
      stream.event("BOOKMARK", configMap("", String(version)));
      await until(hasProgressed);
    }
    world.clock.advance(5_000);
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
    expect(world.cache.get("ns/b")).toBeUndefined();
    second.event("ADDED", configMap("b", "2"));
    await until(() => versionOf("b") === "2");
  });

  test("after 429, when the time that the server asked for has passed", async () => {
    const second = new Stream();
    const stream = await started(status(429, "TooManyRequests", { "retry-after": "11" }), second.answer);
    stream.event("MODIFIED", configMap("a", "2"));
    await until(() => versionOf("a") === "2");
    stream.end();
    await until(() => world.clock.pending.includes(11_000));
    expect(second.opened).toBe(0);
    world.clock.advance(11_000);
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
    expect(world.clock.monotonicMs()).toBeGreaterThan(60_000);
    expect(reasons()).toEqual(["start", "internal"]);
  });
});

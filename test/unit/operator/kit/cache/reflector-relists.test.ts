import { describe, expect, jest, test } from "@jest/globals";
import { type Answer, Stream, status } from "../../../../support/doubles/fake-api-server.ts";
import { configMap } from "../../../../support/fixtures/config-maps.ts";
import { until } from "../../../../support/fixtures/until.ts";
import { isWatch, reflectedCollection, WAYS } from "./reflected-collection.ts";

// Longer than the deadlines of inner waits.
jest.setTimeout(30_000);

const world = reflectedCollection();
const { watches, reasons, versionOf, untilAfterPauses, listsCome, isList, lists, started, replaceList } = world;

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
    expect(world.changes).toEqual(["ns/a: none -> 1", "ns/b: none -> 2", "ns/a: 1 -> none", "ns/b: 2 -> 9"]);
    expect(watches().at(-1)?.query.get("resourceVersion")).toBe("9");
    expect(reasons()).toEqual(["start", "expired"]);
  });

  test("a key whose object is another one now was deleted and made", async () => {
    const second = new Stream();
    const stream = await started(second.answer);
    replaceList([configMap("a", "9", { uid: "another" })], "9");
    stream.event("ERROR", { kind: "Status", code: 410, reason: "Expired" });
    await untilAfterPauses(() => second.isOpen);
    expect(world.changes.slice(1)).toEqual(["ns/a: 1 -> none", "ns/a: none -> 9"]);
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
    const between = world.server.seen.slice(
      world.server.seen.findIndex(isList) + 1,
      world.server.seen.findLastIndex(isList),
    );
    expect(between.filter(isWatch)).toHaveLength(5);
    expect(reasons()).toEqual(["start", "broken"]);
  });

  test("when the watch does not deliver a write of ours", async () => {
    const second = new Stream();
    await started(second.answer);
    world.cache.written(configMap("a", "5"));
    replaceList([configMap("a", "6")], "6");
    world.clock.advance(15_000);
    await untilAfterPauses(() => second.isOpen);
    expect(versionOf("a")).toBe("6");
    expect(reasons()).toEqual(["start", "unconfirmed"]);
  });

  test("every half hour or so, as a safety net", async () => {
    const stream = await started(new Stream().answer);
    stream.event("MODIFIED", configMap("a", "2"));
    await until(() => versionOf("a") === "2");
    replaceList([configMap("a", "2")], "2");
    world.clock.advance(1_800_000);
    await until(() => lists().length === 2);
    expect(reasons()).toEqual(["start", "routine"]);
  });

  test("and watches on where a list of the safety net fails, for a minute at least", async () => {
    const second = new Stream();
    const stream = await started(second.answer, new Stream().answer);
    stream.event("MODIFIED", configMap("a", "2"));
    await until(() => versionOf("a") === "2");
    world.failLists();
    world.clock.advance(1_800_000);
    await untilAfterPauses(() => second.isOpen);
    expect(watches().at(-1)?.query.get("resourceVersion")).toBe("2");
    second.event("MODIFIED", configMap("a", "3"));
    await until(() => versionOf("a") === "3");
    replaceList([configMap("a", "3")], "3");
    world.clock.advance(60_000);
    await untilAfterPauses(() => reasons().length === 3);
    expect(reasons()).toEqual(["start", "routine", "routine"]);
  });
});

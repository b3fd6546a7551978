import { describe, expect, jest, test } from "@jest/globals";
import { type Answer, Stream } from "../../../../support/doubles/fake-api-server.ts";
import { configMap } from "../../../../support/fixtures/config-maps.ts";
import { until } from "../../../../support/fixtures/until.ts";
import { reflectedCollection, WAYS } from "./reflected-collection.ts";

// Longer than the deadlines of inner waits.
jest.setTimeout(30_000);

const world = reflectedCollection();
const { watches, failures, ignored, versionOf, untilAfterPauses, listsCome, lists, started, replaceList, listed } =
  world;

describe.each(WAYS)("what it does not trust (lists come %s)", (way) => {
  listsCome(way);

  test("a watch that ends at once without an event is a failure, and waits", async () => {
    const stream = await started(new Stream().answer);
    stream.end();
    await until(() => world.clock.pending.includes(800));
    expect(watches()).toHaveLength(1);
    expect(failures()).toBe(1);
    world.clock.advance(800);
    await until(() => watches().length === 2);
  });

  test("pauses grow to six seconds, and are short again after two healthy minutes", async () => {
    const hasty: Answer = (_request, response) => response.end();
    const last = new Stream();
    const stream = await started(hasty, hasty, hasty, hasty, hasty, hasty, last.answer);
    stream.end();
    const pauses: number[] = [];
    while (!last.isOpen) {
      await until(() => last.isOpen || (world.clock.pending.length === 1 && world.clock.pending[0] !== 5_000));
      if (last.isOpen) break;
      pauses.push(world.clock.pending[0] ?? Number.NaN);
      world.clock.advanceToNext();
    }
    expect(pauses).toEqual([800, 1_600, 3_200, 6_000, 6_000, 6_000, 6_000]);
    for (let opened = 1; opened <= 4; opened += 1) {
      world.clock.advance(35_000);
      await until(() => last.opened === opened + 1 && last.isOpen);
    }
    last.end();
    await until(() => world.clock.pending.includes(800));
  });

  test("events of another kind and unknown types are counted and left out", async () => {
    const stream = await started();
    stream.event("ADDED", { ...configMap("x", "2"), kind: "Secret" });
    stream.event("SURPRISE", configMap("y", "3"));
    await until(() => ignored() === 2);
    expect(world.cache.list().length).toBe(1);
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
    expect(world.changes).toEqual([
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
    await until(() => world.reflector.status().lastProgressAt !== undefined);
    stream.write(line.subarray(middle));
    await until(() => world.cache.get("ns/b")?.data?.price === "5 €");
  });

  test("a list that began before a write of ours does not hide it", async () => {
    const second = new Stream();
    let finish: () => void = () => undefined;
    const stream = await started(second.answer);
    world.listAnswer = (request, response) => {
      finish = () => listed([configMap("a", "1")], "1")(request, response);
    };
    stream.event("ERROR", { kind: "Status", code: 410, reason: "Expired" });
    await untilAfterPauses(() => lists().length === 2);
    world.cache.written(configMap("a", "2"));
    finish();
    await until(() => second.isOpen);
    expect(versionOf("a")).toBe("2");
    second.event("MODIFIED", configMap("a", "2"));
    second.event("MODIFIED", configMap("a", "3"));
    await until(() => versionOf("a") === "3");
    expect(world.changes).toEqual(["ns/a: none -> 1", "ns/a: 1 -> 2", "ns/a: 2 -> 3"]);
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

import { describe, expect, test } from "@jest/globals";
import type { ListMark } from "../../../../../operator/kit/cache/object-cache.ts";
import { type ConfigMap, configMap } from "../../../../support/fixtures/config-maps.ts";
import { cachedConfigMaps, listed } from "./cached-config-maps.ts";

const world = cachedConfigMaps();
const { versionOf, replace } = world;

describe("own writes", () => {
  test("show at once and stay when the watch delivers them", async () => {
    await replace(configMap("a", "1"));
    world.cache.written(configMap("a", "2"));
    expect(versionOf("a")).toBe("2");
    world.cache.upsert(configMap("a", "2"));
    expect([versionOf("a"), world.cache.oldestUnconfirmedMs()]).toEqual(["2", undefined]);
    expect(world.changes).toEqual(["ns/a: none -> 1", "ns/a: 1 -> 2"]);
  });

  test("stay the object that readers have, also when lists bring the same version again", async () => {
    await replace(configMap("a", "1"));
    world.cache.written(configMap("a", "2"));
    const shown = world.cache.get("ns/a");
    world.cache.upsert(configMap("a", "2"));
    await replace(configMap("a", "2"));
    expect(world.cache.get("ns/a")).toBe(shown);
  });

  test("are not hidden by older versions that arrive after them", async () => {
    await replace(configMap("a", "1"));
    world.cache.written(configMap("a", "3"));
    world.cache.upsert(configMap("a", "2"));
    expect(versionOf("a")).toBe("3");
    world.cache.upsert(configMap("a", "3"));
    world.cache.upsert(configMap("a", "4"));
    expect(versionOf("a")).toBe("4");
  });

  test("of one object, several: the last shows until it has been delivered", async () => {
    await replace(configMap("a", "1"));
    world.cache.written(configMap("a", "2"));
    world.cache.written(configMap("a", "3"));
    world.cache.upsert(configMap("a", "2"));
    expect(versionOf("a")).toBe("3");
    world.cache.upsert(configMap("a", "3"));
    expect([versionOf("a"), world.cache.oldestUnconfirmedMs()]).toEqual(["3", undefined]);
  });

  test("whose event was faster than their answer change nothing", async () => {
    await replace(configMap("a", "1"));
    world.cache.upsert(configMap("a", "2"));
    world.cache.upsert(configMap("a", "3"));
    world.cache.written(configMap("a", "2"));
    expect([versionOf("a"), world.cache.oldestUnconfirmedMs()]).toEqual(["3", undefined]);
  });

  test("wait anew from every event of their object, and from nothing else", async () => {
    await replace(configMap("a", "1"));
    world.cache.written(configMap("a", "2"));
    world.clock.advance(4_000);
    world.cache.written(configMap("a", "3"));
    world.cache.upsert(configMap("b", "9"));
    expect(world.cache.oldestUnconfirmedMs()).toBe(4_000);
    world.cache.upsert(configMap("a", "2"));
    world.clock.advance(1_000);
    expect(world.cache.oldestUnconfirmedMs()).toBe(1_000);
  });

  test("that changed nothing wait for nothing", async () => {
    await replace(configMap("a", "1"));
    world.cache.written(configMap("a", "1"));
    expect(world.cache.oldestUnconfirmedMs()).toBeUndefined();
  });

  test("of an object that has ended since do not bring it back", async () => {
    await replace(configMap("a", "1"));
    world.cache.upsert(configMap("a", "2"));
    world.cache.remove(configMap("a", "3"));
    world.cache.written(configMap("a", "2"));
    expect(world.cache.get("ns/a")).toBeUndefined();
  });

  test("whose answers overtook each other: the newer spec shows, and an end is final", async () => {
    const generation = (object: ConfigMap, value: number) => ({
      ...object,
      metadata: { ...object.metadata, generation: value },
    });
    await replace(generation(configMap("a", "1"), 1));
    world.cache.written(generation(configMap("a", "3"), 2));
    world.cache.written(generation(configMap("a", "2"), 1));
    expect(versionOf("a")).toBe("3");
    world.cache.upsert(generation(configMap("a", "2"), 1));
    expect(versionOf("a")).toBe("3");
    world.cache.deleted(configMap("a", "3"));
    world.cache.written(generation(configMap("a", "4"), 3));
    expect(world.cache.get("ns/a")).toBeUndefined();
  });

  test("end with their object", async () => {
    await replace();
    world.cache.written(configMap("a", "1"));
    world.cache.remove(configMap("a", "2"));
    expect([world.cache.get("ns/a"), world.cache.oldestUnconfirmedMs()]).toEqual([undefined, undefined]);
  });

  test("made before a list began are in it; later ones are not", async () => {
    world.cache.written(configMap("a", "5"));
    const mark = world.cache.beginList();
    world.cache.written(configMap("b", "6"));
    await world.cache.replace(listed([configMap("a", "7")], "5"), mark);
    expect([versionOf("a"), versionOf("b")]).toEqual(["7", "6"]);
    world.clock.advance(3_000);
    expect(world.cache.oldestUnconfirmedMs()).toBe(3_000);
  });

  test.each<{ name: string; learn: (mark: ListMark) => Promise<void> }>([
    {
      name: "a list that began before them holds the last one",
      learn: async (mark) => {
        world.cache.written(configMap("a", "3"));
        await world.cache.replace(listed([configMap("a", "3")]), mark);
      },
    },
    {
      name: "such a list is faster than the last one's answer",
      learn: async (mark) => {
        await world.cache.replace(listed([configMap("a", "3")]), mark);
        world.cache.written(configMap("a", "3"));
      },
    },
    {
      name: "such a list, and an event, are faster than the last one's answer",
      learn: async (mark) => {
        await world.cache.replace(listed([configMap("a", "3")]), mark);
        world.cache.upsert(configMap("a", "4"));
        world.cache.written(configMap("a", "3"));
      },
    },
  ])("never show again what a later one has replaced: $name", async ({ learn }) => {
    await replace(configMap("a", "1"));
    const mark = world.cache.beginList();
    world.cache.written(configMap("a", "2"));
    await learn(mark);
    expect(Number(versionOf("a"))).toBeGreaterThanOrEqual(3);
    world.cache.written(configMap("a", "5"));
    world.cache.upsert(configMap("a", "5"));
    expect([versionOf("a"), world.cache.oldestUnconfirmedMs()]).toEqual(["5", undefined]);
  });

  test("of a successor stand against the end of its predecessor", async () => {
    await replace(configMap("a", "1", { uid: "old" }));
    world.cache.written(configMap("a", "5", { uid: "new" }));
    world.cache.remove(configMap("a", "3", { uid: "old" }));
    expect(versionOf("a")).toBe("5");
    world.cache.upsert(configMap("a", "5", { uid: "new" }));
    expect(world.cache.oldestUnconfirmedMs()).toBeUndefined();
  });
});

describe("own deletes", () => {
  test("show at once, whatever older versions arrive", async () => {
    await replace(configMap("a", "1"));
    world.cache.deleted(configMap("a", "1"));
    world.cache.upsert(configMap("a", "2"));
    expect([world.cache.get("ns/a"), world.cache.list()]).toEqual([undefined, []]);
    world.cache.remove(configMap("a", "3"));
    expect(world.cache.oldestUnconfirmedMs()).toBeUndefined();
    world.cache.upsert(configMap("a", "4", { uid: "new" }));
    expect(versionOf("a")).toBe("4");
  });

  test("whose event was faster than their answer wait for nothing", async () => {
    await replace(configMap("a", "1"));
    world.cache.remove(configMap("a", "2"));
    world.cache.deleted(configMap("a", "1"));
    expect(world.cache.oldestUnconfirmedMs()).toBeUndefined();
  });
});

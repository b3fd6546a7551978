import { beforeEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { createObjectCache } from "../../../../../operator/kit/cache/indexed-cache.ts";
import type { CacheFeed, ListMark, ObjectCache } from "../../../../../operator/kit/cache/object-cache.ts";
import { keyOf } from "../../../../../operator/kit/client/objects.ts";
import { silentLog } from "../../../../../operator/kit/log.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { type ConfigMap, configMap } from "../../../../support/fixtures/config-maps.ts";

let clock: TestClock;
let cache: ObjectCache<ConfigMap> & CacheFeed<ConfigMap>;
let changes: string[];

const versionOf = (name: string) => cache.get(`ns/${name}`)?.metadata.resourceVersion;
const newestOf = (items: readonly ConfigMap[]) =>
  String(Math.max(0, ...items.map(({ metadata }) => Number(metadata.resourceVersion))));
/** Complete as of that version. */
const listed = (items: readonly ConfigMap[], resourceVersion = newestOf(items)) => ({
  items: new Map(items.map((item) => [keyOf(item), item])),
  resourceVersion,
});
const replace = (...items: readonly ConfigMap[]) => cache.replace(listed(items), cache.beginList());

const busy = (ms: number) => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

beforeEach(() => {
  clock = new TestClock();
  cache = createObjectCache<ConfigMap>({ clock });
  changes = [];
  cache.subscribe((key, current, previous) => {
    changes.push(
      `${key}: ${previous?.metadata.resourceVersion ?? "none"} -> ${current?.metadata.resourceVersion ?? "none"}`,
    );
  });
});

describe("own writes", () => {
  test("show at once and stay when the watch delivers them", async () => {
    await replace(configMap("a", "1"));
    cache.written(configMap("a", "2"));
    expect(versionOf("a")).toBe("2");
    cache.upsert(configMap("a", "2"));
    expect([versionOf("a"), cache.oldestUnconfirmedMs()]).toEqual(["2", undefined]);
    expect(changes).toEqual(["ns/a: none -> 1", "ns/a: 1 -> 2"]);
  });

  test("stay the object that readers have, also when lists bring the same version again", async () => {
    await replace(configMap("a", "1"));
    cache.written(configMap("a", "2"));
    const shown = cache.get("ns/a");
    cache.upsert(configMap("a", "2"));
    await replace(configMap("a", "2"));
    expect(cache.get("ns/a")).toBe(shown);
  });

  test("are not hidden by older versions that arrive after them", async () => {
    await replace(configMap("a", "1"));
    cache.written(configMap("a", "3"));
    cache.upsert(configMap("a", "2"));
    expect(versionOf("a")).toBe("3");
    cache.upsert(configMap("a", "3"));
    cache.upsert(configMap("a", "4"));
    expect(versionOf("a")).toBe("4");
  });

  test("of one object, several: the last shows until it has been delivered", async () => {
    await replace(configMap("a", "1"));
    cache.written(configMap("a", "2"));
    cache.written(configMap("a", "3"));
    cache.upsert(configMap("a", "2"));
    expect(versionOf("a")).toBe("3");
    cache.upsert(configMap("a", "3"));
    expect([versionOf("a"), cache.oldestUnconfirmedMs()]).toEqual(["3", undefined]);
  });

  test("whose event was faster than their answer change nothing", async () => {
    await replace(configMap("a", "1"));
    cache.upsert(configMap("a", "2"));
    cache.upsert(configMap("a", "3"));
    cache.written(configMap("a", "2"));
    expect([versionOf("a"), cache.oldestUnconfirmedMs()]).toEqual(["3", undefined]);
  });

  test("wait anew from every event of their object, and from nothing else", async () => {
    await replace(configMap("a", "1"));
    cache.written(configMap("a", "2"));
    clock.advance(4_000);
    cache.written(configMap("a", "3"));
    cache.upsert(configMap("b", "9"));
    expect(cache.oldestUnconfirmedMs()).toBe(4_000);
    cache.upsert(configMap("a", "2"));
    clock.advance(1_000);
    expect(cache.oldestUnconfirmedMs()).toBe(1_000);
  });

  test("that changed nothing wait for nothing", async () => {
    await replace(configMap("a", "1"));
    cache.written(configMap("a", "1"));
    expect(cache.oldestUnconfirmedMs()).toBeUndefined();
  });

  test("of an object that has ended since do not bring it back", async () => {
    await replace(configMap("a", "1"));
    cache.upsert(configMap("a", "2"));
    cache.remove(configMap("a", "3"));
    cache.written(configMap("a", "2"));
    expect(cache.get("ns/a")).toBeUndefined();
  });

  test("whose answers overtook each other: the newer spec shows, and an end is final", async () => {
    const generation = (object: ConfigMap, value: number) => ({
      ...object,
      metadata: { ...object.metadata, generation: value },
    });
    await replace(generation(configMap("a", "1"), 1));
    cache.written(generation(configMap("a", "3"), 2));
    cache.written(generation(configMap("a", "2"), 1));
    expect(versionOf("a")).toBe("3");
    cache.upsert(generation(configMap("a", "2"), 1));
    expect(versionOf("a")).toBe("3");
    cache.deleted(configMap("a", "3"));
    cache.written(generation(configMap("a", "4"), 3));
    expect(cache.get("ns/a")).toBeUndefined();
  });

  test("end with their object", async () => {
    await replace();
    cache.written(configMap("a", "1"));
    cache.remove(configMap("a", "2"));
    expect([cache.get("ns/a"), cache.oldestUnconfirmedMs()]).toEqual([undefined, undefined]);
  });

  test("made before a list began are in it; later ones are not", async () => {
    cache.written(configMap("a", "5"));
    const mark = cache.beginList();
    cache.written(configMap("b", "6"));
    await cache.replace(listed([configMap("a", "7")], "5"), mark);
    expect([versionOf("a"), versionOf("b")]).toEqual(["7", "6"]);
    clock.advance(3_000);
    expect(cache.oldestUnconfirmedMs()).toBe(3_000);
  });

  test.each<{ name: string; learn: (mark: ListMark) => Promise<void> }>([
    {
      name: "a list that began before them holds the last one",
      learn: async (mark) => {
        cache.written(configMap("a", "3"));
        await cache.replace(listed([configMap("a", "3")]), mark);
      },
    },
    {
      name: "such a list is faster than the last one's answer",
      learn: async (mark) => {
        await cache.replace(listed([configMap("a", "3")]), mark);
        cache.written(configMap("a", "3"));
      },
    },
    {
      name: "such a list, and an event, are faster than the last one's answer",
      learn: async (mark) => {
        await cache.replace(listed([configMap("a", "3")]), mark);
        cache.upsert(configMap("a", "4"));
        cache.written(configMap("a", "3"));
      },
    },
  ])("never show again what a later one has replaced: $name", async ({ learn }) => {
    await replace(configMap("a", "1"));
    const mark = cache.beginList();
    cache.written(configMap("a", "2"));
    await learn(mark);
    expect(Number(versionOf("a"))).toBeGreaterThanOrEqual(3);
    cache.written(configMap("a", "5"));
    cache.upsert(configMap("a", "5"));
    expect([versionOf("a"), cache.oldestUnconfirmedMs()]).toEqual(["5", undefined]);
  });

  test("of a successor stand against the end of its predecessor", async () => {
    await replace(configMap("a", "1", { uid: "old" }));
    cache.written(configMap("a", "5", { uid: "new" }));
    cache.remove(configMap("a", "3", { uid: "old" }));
    expect(versionOf("a")).toBe("5");
    cache.upsert(configMap("a", "5", { uid: "new" }));
    expect(cache.oldestUnconfirmedMs()).toBeUndefined();
  });
});

describe("what is older than what was delivered", () => {
  test("changes nothing, although it was never seen", async () => {
    await replace(configMap("a", "999"));
    cache.upsert(configMap("a", "1001"));
    cache.upsert(configMap("a", "1000"));
    cache.remove(configMap("a", "1000"));
    cache.written(configMap("a", "1000"));
    expect([versionOf("a"), cache.oldestUnconfirmedMs()]).toEqual(["1001", undefined]);
  });

  test("shows all the same when a list says so, because etcd was restored", async () => {
    await replace(configMap("a", "500"), configMap("c", "500"));
    cache.upsert(configMap("a", "600"));
    cache.remove(configMap("c", "601"));
    cache.written(configMap("a", "602"));
    cache.written(configMap("b", "603"));
    cache.deleted(configMap("d", "604"));
    await cache.replace(listed([configMap("a", "250"), configMap("d", "260")], "300"), cache.beginList());
    expect(["a", "b", "c", "d"].map(versionOf)).toEqual(["250", undefined, undefined, "260"]);
    expect(cache.oldestUnconfirmedMs()).toBeUndefined();
    cache.upsert(configMap("c", "301"));
    cache.written(configMap("a", "302"));
    cache.written(configMap("b", "303"));
    expect(["a", "b", "c"].map(versionOf)).toEqual(["302", "303", "301"]);
  });
});

describe("own deletes", () => {
  test("show at once, whatever older versions arrive", async () => {
    await replace(configMap("a", "1"));
    cache.deleted(configMap("a", "1"));
    cache.upsert(configMap("a", "2"));
    expect([cache.get("ns/a"), cache.size, cache.list()]).toEqual([undefined, 0, []]);
    cache.remove(configMap("a", "3"));
    expect(cache.oldestUnconfirmedMs()).toBeUndefined();
    cache.upsert(configMap("a", "4", { uid: "new" }));
    expect(versionOf("a")).toBe("4");
  });

  test("whose event was faster than their answer wait for nothing", async () => {
    await replace(configMap("a", "1"));
    cache.remove(configMap("a", "2"));
    cache.deleted(configMap("a", "1"));
    expect(cache.oldestUnconfirmedMs()).toBeUndefined();
  });
});

describe("an object that leaves the watch's selection", () => {
  beforeEach(async () => {
    await replace(configMap("a", "1"));
    cache.upsert(configMap("a", "2"));
    cache.remove(configMap("a", "3"));
  });

  test("shows again when it comes back", () => {
    cache.upsert(configMap("a", "4"));
    expect(versionOf("a")).toBe("4");
    cache.upsert(configMap("a", "5"));
    expect(changes.slice(2)).toEqual(["ns/a: 2 -> none", "ns/a: none -> 4", "ns/a: 4 -> 5"]);
  });

  test("shows again when our own look or write finds it, until the watch takes over", () => {
    cache.written(configMap("a", "4"));
    expect(versionOf("a")).toBe("4");
    cache.upsert(configMap("a", "4"));
    expect([versionOf("a"), cache.oldestUnconfirmedMs()]).toEqual(["4", undefined]);
  });

  test.each(["1", "2", "3"])("is not brought back by version %s, which it had before or left with", (version) => {
    cache.upsert(configMap("a", version));
    cache.written(configMap("a", version));
    expect([cache.get("ns/a"), cache.oldestUnconfirmedMs()]).toEqual([undefined, undefined]);
  });

  test("does not leave a second time when its leaving is repeated after its return", () => {
    cache.upsert(configMap("a", "4"));
    cache.remove(configMap("a", "3"));
    cache.upsert(configMap("a", "2"));
    cache.written(configMap("a", "2"));
    expect([versionOf("a"), cache.oldestUnconfirmedMs()]).toEqual(["4", undefined]);
  });

  test("may leave and come back time and again, and ends like any other", () => {
    cache.upsert(configMap("a", "4"));
    cache.remove(configMap("a", "5"));
    cache.upsert(configMap("a", "6"));
    expect(versionOf("a")).toBe("6");
    cache.deleted(configMap("a", "6"));
    cache.remove(configMap("a", "7"));
    expect([cache.get("ns/a"), cache.oldestUnconfirmedMs()]).toEqual([undefined, undefined]);
  });

  test("for good, as a list or a successor says, comes back by no answer that was on its way", async () => {
    cache.upsert(configMap("a", "4"));
    await cache.replace(listed([], "6"), cache.beginList());
    cache.written(configMap("a", "5"));
    expect(cache.get("ns/a")).toBeUndefined();
    cache.upsert(configMap("a", "8", { uid: "new" }));
    cache.upsert(configMap("a", "10", { uid: "newer" }));
    cache.upsert(configMap("a", "9", { uid: "new" }));
    cache.written(configMap("a", "9", { uid: "new" }));
    expect([versionOf("a"), cache.oldestUnconfirmedMs()]).toEqual(["10", undefined]);
  });
});

describe("no reader ever sees an older version than a write of this process", () => {
  /** One object's versions 1, 2, …: which were ours, how far behind the watch is, and when the collection is listed. */
  interface Scene {
    readonly byUs: readonly boolean[];
    readonly lags: readonly number[];
    readonly lists: readonly number[];
  }
  const scenes: fc.Arbitrary<Scene> = fc.record({
    byUs: fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }),
    lags: fc.array(fc.nat({ max: 4 }), { minLength: 12, maxLength: 12 }),
    lists: fc.uniqueArray(fc.nat({ max: 12 }), { maxLength: 3 }),
  });
  const objectAt = (version: number) => configMap("a", String(version));

  class Playback {
    readonly cache = createObjectCache<ConfigMap>({ clock: new TestClock() });
    #delivered = 0;
    #newestOfOurs = 0;

    async list(version: number, meanwhile: () => void): Promise<void> {
      const items = version === 0 ? [] : [objectAt(version)];
      const taken = this.cache.replace(listed(items), this.cache.beginList());
      meanwhile();
      await taken;
      this.#delivered = version;
      this.check();
    }

    write(version: number): void {
      this.cache.written(objectAt(version));
      this.#newestOfOurs = version;
      this.check();
    }

    deliverUpTo(version: number): void {
      while (this.#delivered < version) {
        this.#delivered += 1;
        this.cache.upsert(objectAt(this.#delivered));
        this.check();
      }
    }

    check(): void {
      expect(Number(this.cache.get("ns/a")?.metadata.resourceVersion ?? 0)).toBeGreaterThanOrEqual(this.#newestOfOurs);
    }
  }

  test("whenever events and lists arrive", async () => {
    const play = async ({ byUs, lags, lists }: Scene) => {
      const playback = new Playback();
      for (const [before, isOurs] of byUs.entries()) {
        const write = () => isOurs && playback.write(before + 1);
        await (lists.includes(before) ? playback.list(before, write) : write());
        playback.deliverUpTo(before + 1 - (lags[before] ?? 0));
      }
      playback.deliverUpTo(byUs.length);
      expect(playback.cache.get("ns/a")).toEqual(objectAt(byUs.length));
      expect(playback.cache.oldestUnconfirmedMs()).toBeUndefined();
    };
    await fc.assert(fc.asyncProperty(scenes, play));
  });
});

describe("readers", () => {
  test("find objects by index, also while an own write waits", async () => {
    const indexed = createObjectCache<ConfigMap>({
      indexes: { owner: ({ data }) => (data?.owner ? [data.owner] : []) },
    });
    const items = [configMap("a", "1", { data: { owner: "x" } }), configMap("b", "1")];
    await indexed.replace(listed(items), indexed.beginList());
    expect(indexed.by("owner", "x").map(({ metadata }) => metadata.name)).toEqual(["a"]);
    indexed.written(configMap("a", "2", { data: { owner: "y" } }));
    expect([indexed.by("owner", "x").length, indexed.by("owner", "y").length]).toEqual([0, 1]);
    indexed.deleted(configMap("a", "2"));
    expect(indexed.by("owner", "y")).toEqual([]);
    expect(() => indexed.by("unknown", "y")).toThrow(TypeError);
  });

  test("never hold managedFields", () => {
    const base = configMap("a", "1");
    const full = { ...base, metadata: { ...base.metadata, managedFields: [{}] } };
    expect(cache.trimmed(full)).toEqual(base);
    cache.upsert(full);
    expect(cache.get("ns/a")).toEqual(base);
    cache.written({ ...full, metadata: { ...full.metadata, resourceVersion: "2" } });
    expect(cache.get("ns/a")).toEqual(configMap("a", "2"));
  });

  test("wait for the first complete list, or for their signal", async () => {
    const waiting = cache.whenSynced(AbortSignal.timeout(5_000));
    await replace();
    await waiting;
    const other = createObjectCache<ConfigMap>();
    await expect(other.whenSynced(AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  });

  test("and the event loop go on while a long list is taken in, which counts only when it is complete", async () => {
    const items = Array.from({ length: 50 }, (_, index) => configMap(`busy-${index}`, "1"));
    const seen: boolean[] = [];
    const looking = setInterval(() => seen.push(cache.synced), 0);
    cache.subscribe(() => busy(1));
    await replace(...items);
    clearInterval(looking);
    expect([seen.length > 3, seen.includes(true), cache.size]).toEqual([true, false, 50]);
  });

  test("hear no more after they have unsubscribed", async () => {
    const heard: string[] = [];
    const unsubscribe = cache.subscribe((key) => heard.push(key));
    await replace(configMap("a", "1"));
    unsubscribe();
    cache.upsert(configMap("b", "2"));
    expect(heard).toEqual(["ns/a"]);
  });

  test.each([
    { name: "a listener", broken: "listener" },
    { name: "an index", broken: "index" },
    { name: "a transform", broken: "transform" },
  ])("$name that throws is reported and costs no one else anything", ({ broken }) => {
    const fault = new Error("a bug");
    const failIf = (part: string) => {
      if (part === broken) throw fault;
    };
    const errors: unknown[] = [];
    const subject = createObjectCache<ConfigMap>({
      log: { ...silentLog, error: (_message, facts) => errors.push(facts?.error) },
      indexes: { broken: () => [failIf("index")].map(String), name: ({ metadata }) => [metadata.name] },
      transform: (object) => {
        failIf("transform");
        return object;
      },
    });
    const heard: string[] = [];
    subject.subscribe(() => failIf("listener"));
    subject.subscribe((key) => heard.push(key));
    subject.upsert(configMap("a", "1"));
    expect([errors, heard, subject.by("name", "a")]).toEqual([[fault], ["ns/a"], [configMap("a", "1")]]);
  });
});

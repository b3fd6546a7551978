import { beforeEach, describe, expect, test } from "@jest/globals";
import { createObjectCache } from "../../../../../operator/kit/cache/indexed-cache.ts";
import { type ConfigMap, configMap } from "../../../../support/fixtures/config-maps.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";
import { cachedConfigMaps, listed } from "./cached-config-maps.ts";

const world = cachedConfigMaps();
const { versionOf, replace } = world;

const busy = (ms: number) => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

describe("what is older than what was delivered", () => {
  test("changes nothing, although it was never seen", async () => {
    await replace(configMap("a", "999"));
    world.cache.upsert(configMap("a", "1001"));
    world.cache.upsert(configMap("a", "1000"));
    world.cache.remove(configMap("a", "1000"));
    world.cache.written(configMap("a", "1000"));
    expect([versionOf("a"), world.cache.oldestUnconfirmedMs()]).toEqual(["1001", undefined]);
  });

  test("shows all the same when a list says so, because etcd was restored", async () => {
    await replace(configMap("a", "500"), configMap("c", "500"));
    world.cache.upsert(configMap("a", "600"));
    world.cache.remove(configMap("c", "601"));
    world.cache.written(configMap("a", "602"));
    world.cache.written(configMap("b", "603"));
    world.cache.deleted(configMap("d", "604"));
    await world.cache.replace(listed([configMap("a", "250"), configMap("d", "260")], "300"), world.cache.beginList());
    expect(["a", "b", "c", "d"].map(versionOf)).toEqual(["250", undefined, undefined, "260"]);
    expect(world.cache.oldestUnconfirmedMs()).toBeUndefined();
    world.cache.upsert(configMap("c", "301"));
    world.cache.written(configMap("a", "302"));
    world.cache.written(configMap("b", "303"));
    expect(["a", "b", "c"].map(versionOf)).toEqual(["302", "303", "301"]);
  });
});

/**
 * The API server keeps the older definition of a changed kind in its watches for about a second: objects lack the new
 * fields, under the version of the stored object.
 */
describe("an object that was delivered by an older definition of its kind", () => {
  const halved = configMap("a", "2");
  const whole = configMap("a", "2", { data: { owner: "x" } });
  const indexed = () =>
    createObjectCache<ConfigMap>({ indexes: { owner: ({ data }) => (data?.owner ? [data.owner] : []) } });

  test.each<{ name: string; learn: (cache: ReturnType<typeof indexed>) => Promise<void> | void }>([
    { name: "the answer to a write that changes nothing", learn: (cache) => cache.written(whole) },
    { name: "the next list", learn: (cache) => cache.replace(listed([whole]), cache.beginList()) },
  ])("is made whole by $name, and who listens hears of it", async ({ learn }) => {
    const cache = indexed();
    await cache.replace(listed([configMap("a", "1")]), cache.beginList());
    cache.upsert(halved);
    const heard: unknown[] = [];
    cache.subscribe((_key, current, previous) => heard.push([current, previous]));
    await learn(cache);
    expect([cache.get("ns/a"), cache.by("owner", "x")]).toEqual([whole, [whole]]);
    expect(heard).toEqual([[whole, halved]]);
    expect(cache.oldestUnconfirmedMs()).toBeUndefined();
  });

  test("does not take away what the answer to its write has shown before", async () => {
    await replace(configMap("a", "1"));
    world.cache.written(whole);
    world.cache.upsert(halved);
    expect([world.cache.get("ns/a"), world.cache.oldestUnconfirmedMs()]).toEqual([whole, undefined]);
    expect(world.changes).toEqual(["ns/a: none -> 1", "ns/a: 1 -> 2"]);
  });

  test("is not made whole by the answer about an object that had its name and version before etcd was restored", async () => {
    await replace(halved);
    world.cache.written(configMap("a", "2", { uid: "another", data: { owner: "x" } }));
    expect(world.cache.get("ns/a")).toBe(halved);
  });
});

describe("an object that leaves the watch's selection", () => {
  beforeEach(async () => {
    await replace(configMap("a", "1"));
    world.cache.upsert(configMap("a", "2"));
    world.cache.remove(configMap("a", "3"));
  });

  test("shows again when it comes back", () => {
    world.cache.upsert(configMap("a", "4"));
    expect(versionOf("a")).toBe("4");
    world.cache.upsert(configMap("a", "5"));
    expect(world.changes.slice(2)).toEqual(["ns/a: 2 -> none", "ns/a: none -> 4", "ns/a: 4 -> 5"]);
  });

  test("shows again when our own look or write finds it, until the watch takes over", () => {
    world.cache.written(configMap("a", "4"));
    expect(versionOf("a")).toBe("4");
    world.cache.upsert(configMap("a", "4"));
    expect([versionOf("a"), world.cache.oldestUnconfirmedMs()]).toEqual(["4", undefined]);
  });

  test.each(["1", "2", "3"])("is not brought back by version %s, which it had before or left with", (version) => {
    world.cache.upsert(configMap("a", version));
    world.cache.written(configMap("a", version));
    expect([world.cache.get("ns/a"), world.cache.oldestUnconfirmedMs()]).toEqual([undefined, undefined]);
  });

  test("does not leave a second time when its leaving is repeated after its return", () => {
    world.cache.upsert(configMap("a", "4"));
    world.cache.remove(configMap("a", "3"));
    world.cache.upsert(configMap("a", "2"));
    world.cache.written(configMap("a", "2"));
    expect([versionOf("a"), world.cache.oldestUnconfirmedMs()]).toEqual(["4", undefined]);
  });

  test("may leave and come back time and again, and ends like any other", () => {
    world.cache.upsert(configMap("a", "4"));
    world.cache.remove(configMap("a", "5"));
    world.cache.upsert(configMap("a", "6"));
    expect(versionOf("a")).toBe("6");
    world.cache.deleted(configMap("a", "6"));
    world.cache.remove(configMap("a", "7"));
    expect([world.cache.get("ns/a"), world.cache.oldestUnconfirmedMs()]).toEqual([undefined, undefined]);
  });

  test("for good, as a list or a successor says, comes back by no answer that was on its way", async () => {
    world.cache.upsert(configMap("a", "4"));
    await world.cache.replace(listed([], "6"), world.cache.beginList());
    world.cache.written(configMap("a", "5"));
    expect(world.cache.get("ns/a")).toBeUndefined();
    world.cache.upsert(configMap("a", "8", { uid: "new" }));
    world.cache.upsert(configMap("a", "10", { uid: "newer" }));
    world.cache.upsert(configMap("a", "9", { uid: "new" }));
    world.cache.written(configMap("a", "9", { uid: "new" }));
    expect([versionOf("a"), world.cache.oldestUnconfirmedMs()]).toEqual(["10", undefined]);
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
    expect(world.cache.trimmed(full)).toEqual(base);
    world.cache.upsert(full);
    expect(world.cache.get("ns/a")).toEqual(base);
    world.cache.written({ ...full, metadata: { ...full.metadata, resourceVersion: "2" } });
    expect(world.cache.get("ns/a")).toEqual(configMap("a", "2"));
  });

  test("wait for the first complete list, or for their signal", async () => {
    const waiting = world.cache.whenSynced(AbortSignal.timeout(5_000));
    await replace();
    await waiting;
    const other = createObjectCache<ConfigMap>();
    await expect(other.whenSynced(AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  });

  test("and the event loop go on while a long list is taken in, which counts only when it is complete", async () => {
    const items = Array.from({ length: 50 }, (_, index) => configMap(`busy-${index}`, "1"));
    const seen: boolean[] = [];
    const looking = setInterval(() => seen.push(world.cache.synced), 0);
    world.cache.subscribe(() => busy(1));
    await replace(...items);
    clearInterval(looking);
    expect([seen.length > 3, seen.includes(true), world.cache.list().length]).toEqual([true, false, 50]);
  });

  test("hear no more after they have unsubscribed", async () => {
    const heard: string[] = [];
    const unsubscribe = world.cache.subscribe((key) => heard.push(key));
    await replace(configMap("a", "1"));
    unsubscribe();
    world.cache.upsert(configMap("b", "2"));
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

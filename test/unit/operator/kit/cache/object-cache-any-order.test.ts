import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { createObjectCache } from "../../../../../operator/kit/cache/indexed-cache.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { type ConfigMap, configMap } from "../../../../support/fixtures/config-maps.ts";
import { listed } from "./cached-config-maps.ts";

describe("no reader ever sees an older version than a write of this process", () => {
  /** One object's versions 1, 2, …: our own ones, the watch's delay, and the time of a list. */
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

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { CountersUnavailable, type SharedCounters } from "../../../operator/ports/api/shared-counters.ts";
import { until } from "../../support/fixtures/until.ts";
import { unique } from "../../support/plane/people.ts";

/** The counters of two replicas, and control of their store. */
export interface CountersScene {
  readonly one: SharedCounters;
  readonly other: SharedCounters;
  /** Makes the store unreachable, or reachable; counts may be lost. */
  setReachable(reachable: boolean): Promise<void>;
  /** Advances time until a failure is forgotten. */
  forgive(): void;
  stop(): Promise<void>;
}

export function sharedCountersSuite(title: string, start: () => Promise<CountersScene>): void {
  describe(`counters that replicas share, ${title}`, () => {
    let scene: CountersScene;
    beforeAll(async () => {
      scene = await start();
    }, 60_000);
    afterAll(() => scene.stop());

    const minute = { name: "minute", windowMs: 60_000 };

    test("count what comes through either replica, each key apart", async () => {
      const [key, another] = [unique("key-"), unique("key-")];
      const totals = [];
      for (const replica of [scene.one, scene.other, scene.one]) {
        totals.push((await replica.increment(minute, key)).total);
      }
      expect(totals).toEqual([1, 2, 3]);
      expect((await scene.other.increment(minute, another)).total).toBe(1);
    });

    test("keep the counters of two limits apart", async () => {
      const key = unique("key-");
      await scene.one.increment(minute, key);
      expect((await scene.one.increment({ ...minute, name: "other" }, key)).total).toBe(1);
    });

    test("say when the window ends, which no further request moves", async () => {
      const key = unique("key-");
      const before = Date.now();
      const first = await scene.one.increment(minute, key);
      const second = await scene.other.increment(minute, key);
      for (const { endsAt } of [first, second]) {
        expect(endsAt.getTime()).toBeGreaterThan(before + 55_000);
        expect(endsAt.getTime()).toBeLessThanOrEqual(Date.now() + 60_000);
      }
    });

    test("begin anew when the window is over", async () => {
      const [key, brief] = [unique("key-"), { name: "brief", windowMs: 200 }];
      await scene.one.increment(brief, key);
      await scene.one.increment(brief, key);
      await until(async () => (await scene.one.increment(brief, key)).total === 1, { what: "a new window" });
    });

    test("say that they are away, and work again when they are back", async () => {
      const key = unique("key-");
      expect(await scene.one.state()).toBe("up");
      await scene.setReachable(false);
      await until(async () => (await scene.one.state()) === "down", { what: "the loss" });
      await expect(scene.one.increment(minute, key)).rejects.toThrow(CountersUnavailable);
      await scene.setReachable(true);
      await until(async () => (await scene.one.state()) === "up", { what: "the return" });
      scene.forgive();
      const total = async () => (await scene.one.increment(minute, key)).total;
      expect([await total(), await total()]).toEqual([1, 2]);
    });
  });
}

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { NO_TOTALS } from "../../../crds/usage/period-summary.ts";
import type { RollupStore, StoredRollup } from "../../../operator/ports/rollups.ts";

export interface RollupsScene {
  readonly store: RollupStore;
  stop(): Promise<void>;
}

export function rollupsSuite(title: string, start: () => Promise<RollupsScene>): void {
  describe(`rollups, ${title}`, () => {
    let scene: RollupsScene;
    beforeAll(async () => {
      scene = await start();
    }, 60_000);
    afterAll(() => scene.stop());

    const writers = { one: { batch: 3, at: "2026-01-01T00:00:00.000Z" } };
    const content = { slots: { "09:35": { requests: 2 } }, writers };
    const { signal } = new AbortController();
    const days = async () => (await scene.store.list(signal)).map(({ day }) => day);

    async function made(day: string): Promise<StoredRollup> {
      expect(await scene.store.find(day)).toBeUndefined();
      expect(await scene.store.create(day, content)).toBe(true);
      const found = await scene.store.find(day);
      if (found === undefined) throw new Error("it was not stored");
      return found;
    }

    test("are made once, and found as they were made", async () => {
      expect(await made("2026-01-01")).toMatchObject({ ...content, day: "2026-01-01" });
      expect(await scene.store.create("2026-01-01", { slots: {}, writers: {} })).toBe(false);
      expect(await scene.store.find("2026-01-01")).toMatchObject(content);
      expect(await days()).toContain("2026-01-01");
    });

    test("keep the sum of a day beside what was counted", async () => {
      const former = await made("2026-02-01");
      const tally = { ...NO_TOTALS, created: 2, cpu: 86_400_000 };
      // Names of people and of repositories are arbitrary.
      const rows = new Map([["constructor", tally]]);
      const empty = new Map();
      const summary = {
        total: tally,
        peak: 2,
        by: { repository: rows, creator: rows, config_set: empty, trigger: empty },
      };
      expect(await scene.store.replace(former, { ...former, summary })).toBe(true);
      const found = await scene.store.find("2026-02-01");
      expect(found).toMatchObject(content);
      expect(found?.summary).toEqual(summary);
    });

    test("are replaced only as they were read", async () => {
      const former = await made("2026-01-02");
      const next = { slots: { "09:35": { requests: 5 } }, writers };
      expect(await scene.store.replace(former, next)).toBe(true);
      expect(await scene.store.replace(former, content)).toBe(false);
      expect(await scene.store.find("2026-01-02")).toMatchObject(next);
    });

    test("are removed only as they were read", async () => {
      const former = await made("2026-01-03");
      await scene.store.replace(former, { slots: {}, writers: {} });
      await scene.store.remove(former);
      const latest = await scene.store.find("2026-01-03");
      expect(latest).toMatchObject({ slots: {} });
      if (latest !== undefined) await scene.store.remove(latest);
      expect(await days()).not.toContain("2026-01-03");
      expect(await scene.store.replace(former, content)).toBe(false);
    });
  });
}

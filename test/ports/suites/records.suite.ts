import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { RecordSpec } from "../../../crds/environment/environment-record.ts";
import type { Records } from "../../../operator/ports/records.ts";
import { minutesLater } from "../../support/fixtures/environment/environment-fixture.ts";
import { unique } from "../../support/plane/people.ts";

/** Records, of which at most three are dropped at a time, and their readers. */
export interface RecordsScene {
  readonly records: Records;
  /** The records of the environment of that name, in any order. */
  kept(environment: string): Promise<readonly RecordSpec[]>;
  /** Removes the records of that name. */
  forget(environment: string): Promise<void>;
  stop(): Promise<void>;
}

/** The record of a deletion, by minutes after the beginning of the tests' time. */
export function recordFixture(name: string, minute: number): RecordSpec {
  const at = minutesLater(minute).toISOString();
  return {
    name,
    uid: randomUUID(),
    reason: "deleted" as const,
    teardownSeconds: 0,
    createdAt: minutesLater(0).toISOString(),
    deletedAt: at,
    goneAt: at,
  };
}

export function recordsSuite(title: string, start: () => Promise<RecordsScene>): void {
  describe(`the records of environments that are no more, ${title}`, () => {
    const name = unique("recorded-");
    let scene: RecordsScene;
    beforeAll(async () => {
      scene = await start();
    }, 60_000);
    afterEach(() => scene.forget(name));
    afterAll(() => scene.stop());

    const minutes = async () => {
      const kept = await scene.kept(name);
      const since = ({ deletedAt }: RecordSpec) => (Date.parse(deletedAt) - minutesLater(0).getTime()) / 60_000;
      return kept.map(since).sort((one, other) => one - other);
    };
    const prune = (atMost: number, minute: number) =>
      scene.records.prune({ atMost, notBefore: minutesLater(minute) }, new AbortController().signal);

    test("are written once: the first stays as it is", async () => {
      const first = recordFixture(name, 1);
      await scene.records.keep(first);
      await scene.records.keep({ ...first, reason: "expired" });
      expect(await scene.kept(name)).toEqual([first]);
    });

    test("receive allocated costs later, instead of what was known of that; one that is dropped stays so", async () => {
      const allocation = (cpu: number) => [
        {
          from: minutesLater(0).toISOString(),
          to: minutesLater(1).toISOString(),
          cpu,
          memory: 1,
          storage: 0,
          other: 0,
        },
      ];
      const first = { ...recordFixture(name, 1), allocations: allocation(1) };
      await scene.records.keep(first);
      await scene.records.allocate(first.uid, allocation(2));
      await scene.records.allocate(first.uid, allocation(3));
      await scene.records.allocate(randomUUID(), allocation(4));
      expect(await scene.kept(name)).toEqual([{ ...first, allocations: allocation(3) }]);
    });

    test("are found by the name of the environment, the one that was deleted last", async () => {
      expect(await scene.records.newestOf(name)).toBeUndefined();
      const newest = recordFixture(name, 3);
      for (const record of [recordFixture(name, 1), newest, recordFixture(name, 2)]) await scene.records.keep(record);
      expect(await scene.records.newestOf(name)).toEqual(newest);
      expect(await scene.records.newestOf(`${name}-other`)).toBeUndefined();
    });

    test("go by age and by number, the oldest first", async () => {
      for (const minute of [3, 1, 5, 2, 4]) await scene.records.keep(recordFixture(name, minute));
      expect(await prune(100, 0)).toEqual({ dropped: 0, isMoreLeft: false });
      expect(await prune(100, 2)).toEqual({ dropped: 1, isMoreLeft: false });
      expect(await minutes()).toEqual([2, 3, 4, 5]);
      expect(await prune(3, 0)).toEqual({ dropped: 1, isMoreLeft: false });
      expect(await minutes()).toEqual([3, 4, 5]);
    });

    test("go a share at a time, and it is said that there are more", async () => {
      for (const minute of [3, 1, 5, 2, 4]) await scene.records.keep(recordFixture(name, minute));
      expect(await prune(1, 0)).toEqual({ dropped: 3, isMoreLeft: true });
      expect(await minutes()).toEqual([4, 5]);
      expect(await prune(1, 0)).toEqual({ dropped: 1, isMoreLeft: false });
      expect(await minutes()).toEqual([5]);
    });
  });
}

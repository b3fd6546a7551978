import { expect, test } from "@jest/globals";
import type { RecordSpec } from "../../../../crds/environment/environment-record.ts";
import { recordManifest } from "../../../../crds/environment/environment-record.ts";
import type { RollupStore } from "../../../../operator/ports/rollups.ts";
import { summarizeDays } from "../../../../operator/rollups/daily-summaries.ts";
import { memoryRollupStore } from "../../../support/doubles/memory/costs/rollups.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import { environmentFixture } from "../../../support/fixtures/environment/environment-fixture.ts";

const { signal } = new AbortController();
const usage = (since: string) => [{ since, cpuMillicores: 1_000, memoryMebibytes: 0, storageMebibytes: 0 }];
const record = (uid: string, createdAt: string, goneAt: string): RecordSpec => ({
  name: uid,
  uid,
  createdAt,
  reason: "deleted",
  deletedAt: goneAt,
  goneAt,
  teardownSeconds: 0,
  usage: usage(createdAt),
});

function scene() {
  const clock = new TestClock("2026-01-03T10:00:00.000Z");
  const store: RollupStore = memoryRollupStore();
  const records: RecordSpec[] = [record("gone", "2026-01-01T22:00:00.000Z", "2026-01-02T03:00:00.000Z")];
  const environments = [
    environmentFixture({
      metadata: { uid: "lives", creationTimestamp: "2026-01-02T12:00:00Z" },
      status: { usage: usage("2026-01-02T12:00:00.000Z") },
    }),
  ];
  const now = () => Promise.all(["2026-01-01", "2026-01-02", "2026-01-03"].map((day) => store.find(day)));
  const found: Awaited<ReturnType<typeof now>> = [];
  const summarize = summarizeDays({
    clock,
    caches: {
      environments: { list: () => environments },
      records: { list: () => records.map((spec) => ({ ...recordManifest(spec, "x"), metadata: META })) },
    },
    rollupDays: { days: () => found.flatMap((one) => one ?? []) },
    rollupStore: store,
  });
  const pass = async () => {
    found.splice(0, found.length, ...(await now()));
    await summarize(signal);
    return now();
  };
  return { clock, store, records, pass };
}

const META = { name: "x", namespace: "x", uid: "x", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
const HOUR = 3_600_000;

test("a day that is over is summed up beside what was counted, once, and today is not", async () => {
  const { store, pass } = scene();
  const slots = { "09:35": { requests: 2 } };
  await store.create("2026-01-01", { slots, writers: {} });
  const [first, second, today] = await pass();
  expect(first).toMatchObject({
    slots,
    summary: { total: { created: 1, deleted: 0, cpu: 2 * HOUR } },
  });
  expect(second).toMatchObject({ summary: { total: { created: 1, deleted: 1, cpu: 15 * HOUR }, peak: 1 } });
  expect(today).toBeUndefined();
  const [again] = await pass();
  expect(again?.version).toBe(first?.version);
});

test("what comes late is added, and what was dropped stays", async () => {
  const { records, pass } = scene();
  const cpuOf = async () => (await pass()).map((one) => one?.summary?.total.cpu);
  expect(await cpuOf()).toEqual([2 * HOUR, 15 * HOUR, undefined]);
  records.push(record("late", "2026-01-01T23:00:00.000Z", "2026-01-02T01:00:00.000Z"));
  expect(await cpuOf()).toEqual([3 * HOUR, 16 * HOUR, undefined]);
  records.splice(0, records.length);
  expect(await cpuOf()).toEqual([3 * HOUR, 16 * HOUR, undefined]);
});

test("a day is summed up days later, too, as long as there are records", async () => {
  const { clock, pass } = scene();
  clock.advance(30 * 24 * HOUR);
  expect((await pass())[1]?.summary?.total).toMatchObject({ created: 1, deleted: 1 });
});

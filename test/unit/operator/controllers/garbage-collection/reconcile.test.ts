import { randomUUID } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { HOUR_MS, SECOND_MS } from "../../../../../crds/durations.ts";
import type { RecordSpec } from "../../../../../crds/environment/environment-record.ts";
import { garbageCollection } from "../../../../../operator/controllers/garbage-collection/controller.ts";
import { pruneRecords } from "../../../../../operator/controllers/garbage-collection/old-records.ts";
import {
  repeatedSweeps,
  type Sweep,
  type SweepReport,
} from "../../../../../operator/controllers/garbage-collection/orphans.ts";
import {
  COLLECTIONS,
  type Collections,
  collectGarbage,
} from "../../../../../operator/controllers/garbage-collection/reconcile.ts";
import { WorkerPool, type WorkerPoolContext } from "../../../../../operator/kit/controller/worker-pool.ts";
import { memoryRecords } from "../../../../support/doubles/memory/records.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { fixtureSettings, minutesLater } from "../../../../support/fixtures/environment/environment-fixture.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";
import { until } from "../../../../support/fixtures/until.ts";

const nothing: SweepReport = { orphans: 0, removing: 0, stuck: 0, removed: 0, isBlocked: false };
const going: SweepReport = { ...nothing, orphans: 1, removing: 1 };

interface Scene {
  readonly sweep?: Sweep;
  readonly records?: ReturnType<typeof memoryRecords>;
  readonly everySeconds?: number;
  readonly dropTokens?: () => Promise<void>;
  /** Delay of the API server's clock behind ours. */
  readonly serverBehindMs?: number;
}

function scene({
  sweep = async () => nothing,
  records = memoryRecords(),
  everySeconds = 300,
  serverBehindMs = 0,
  ...more
}: Scene = {}) {
  const settings = {
    ...fixtureSettings,
    sweep: { ...fixtureSettings.sweep, everySeconds },
    records: { atMost: 3, days: 90 },
  };
  const clock = new TestClock();
  const { dropTokens = async () => undefined } = more;
  const serverClock = { now: async () => new Date(clock.now().getTime() - serverBehindMs) };
  const others = {
    "token values": async () => undefined,
    deliveries: async () => false,
    notifications: async () => false,
    rollups: async () => undefined,
    summaries: async () => undefined,
  };
  const succeeded: string[] = [];
  const loopSucceeded = (loop: string) => void succeeded.push(loop);
  const context = { settings, clock, serverClock, records, log: silentLog, random: () => 0.5, loopSucceeded };
  const orphans = repeatedSweeps(sweep, silentLog);
  const collections = { orphans, records: pruneRecords(context), tokens: dropTokens, ...others };
  const reconcile = collectGarbage(context, collections);
  const signal = new AbortController().signal;
  return {
    clock,
    records,
    succeeded,
    started: () => started(context, collections),
    pass: (chore: string) => reconcile(chore, { signal, requeueUrgently: () => undefined }),
  };
}

/** The workers of the controller, as the manager starts them. */
function started(
  context: Parameters<typeof garbageCollection>[0] & WorkerPoolContext,
  collections: Collections,
): WorkerPool {
  const controller = garbageCollection(context, collections, []);
  const pool = new WorkerPool(controller, context);
  for (const key of controller.initialKeys()) pool.enqueue(key, "low");
  pool.start();
  return pool;
}

function answering(...reports: readonly SweepReport[]): Sweep {
  const left = [...reports];
  return async () => left.shift() ?? nothing;
}

function record(daysAgo: number): RecordSpec {
  const at = new Date(minutesLater(0).getTime() - daysAgo * 24 * HOUR_MS).toISOString();
  const times = { createdAt: at, deletedAt: at, goneAt: at };
  return { name: `old-${daysAgo}`, uid: randomUUID(), reason: "deleted", teardownSeconds: 0, ...times };
}

describe("the garbage collection", () => {
  test("does nothing right after the start", async () => {
    const { records, pass } = scene({ sweep: () => Promise.reject(new Error("too early")) });
    await records.keep(record(91));
    expect(await pass("orphans")).toEqual({ requeueAfterMs: 150_000 });
    expect(await pass("records")).toEqual({ requeueAfterMs: HOUR_MS / 2 });
    expect(records.list()).toHaveLength(1);
  });

  test.each<[string, readonly SweepReport[], readonly number[]]>([
    ["as usual", [nothing], [300]],
    ["as usual while something is only reported", [{ ...nothing, orphans: 1 }], [300]],
    ["as usual while something is stuck", [{ ...nothing, orphans: 1, stuck: 1 }], [300]],
    ["soon while something is going, and less and less soon", Array(7).fill(going), [10, 20, 40, 80, 160, 300, 300]],
    ["soon again when something came to its end", [going, going, { ...going, removed: 1 }, going], [10, 20, 10, 20]],
    ["soon again for what begins to go later", [going, going, nothing, going], [10, 20, 300, 10]],
  ])("looks for orphans again %s", async (_what, reports, expected) => {
    const { pass } = scene({ sweep: answering(...reports) });
    await pass("orphans");
    const seconds = [];
    for (const _look of reports) seconds.push(((await pass("orphans"))?.requeueAfterMs ?? 0) / SECOND_MS);
    expect(seconds).toEqual(expected);
  });

  test("drops records by number and by age", async () => {
    const { records, pass } = scene();
    for (const daysAgo of [91, 5, 4, 3, 2]) await records.keep(record(daysAgo));
    await pass("records");
    expect(await pass("records")).toEqual({ requeueAfterMs: HOUR_MS });
    expect(records.list().map(({ name }) => name)).toEqual(["old-4", "old-3", "old-2"]);
  });

  test("drops no record that is old by a clock that is ahead", async () => {
    const { records, pass } = scene({ serverBehindMs: 2 * 24 * HOUR_MS });
    await records.keep(record(91));
    await pass("records");
    await pass("records");
    expect(records.list()).toHaveLength(1);
  });

  test("goes on soon when there are more records to drop than go at once", async () => {
    const { records, pass } = scene({ records: memoryRecords({ mostPruned: 2 }) });
    for (let daysAgo = 91; daysAgo < 95; daysAgo += 1) await records.keep(record(daysAgo));
    await pass("records");
    expect(await pass("records")).toEqual({ requeueAfterMs: 10_000 });
    expect(await pass("records")).toEqual({ requeueAfterMs: HOUR_MS });
    expect(records.list()).toEqual([]);
  });
});

test("a collection has succeeded when it has collected: neither by its start nor by an error", async () => {
  let isAway = true;
  const { pass, succeeded } = scene({ sweep: async () => (isAway ? Promise.reject(new Error("away")) : nothing) });
  await pass("orphans");
  await expect(pass("orphans")).rejects.toThrow("away");
  expect(succeeded).toEqual([]);
  isAway = false;
  await pass("orphans");
  expect(succeeded).toEqual(["orphans"]);
});

test("has what is left of ended API tokens dropped every hour", async () => {
  let drops = 0;
  const dropTokens = async () => {
    drops += 1;
  };
  const { pass } = scene({ dropTokens });
  expect(await pass("tokens")).toEqual({ requeueAfterMs: HOUR_MS / 2 });
  expect(drops).toBe(0);
  expect(await pass("tokens")).toEqual({ requeueAfterMs: HOUR_MS });
  expect(drops).toBe(1);
});

describe("the garbage collection controller", () => {
  test("does not hurry what fails", async () => {
    const attemptsMs: number[] = [];
    const { clock, started } = scene({
      async sweep() {
        attemptsMs.push(clock.monotonicMs());
        throw new Error("away");
      },
    });
    const collector = started();
    while (attemptsMs.length < 6) {
      await until(() => clock.pending.length === COLLECTIONS.length);
      clock.advanceToNext();
    }
    const pauses = attemptsMs.slice(1).map((atMs, at) => (atMs - (attemptsMs[at] ?? 0)) / SECOND_MS);
    expect(pauses).toEqual([28.5, 57, 114, 228, 285]);
    await collector.stop();
  });

  test("drops records while a sweep takes its time", async () => {
    let isSweeping = false;
    const { clock, records, started } = scene({
      everySeconds: 3_500,
      sweep: (signal) =>
        new Promise((_resolve, reject) => {
          isSweeping = true;
          signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        }),
    });
    await records.keep(record(91));
    const collector = started();
    await until(() => clock.pending.length === COLLECTIONS.length);
    clock.advance(1_750 * SECOND_MS);
    await until(() => isSweeping);
    clock.advance(50 * SECOND_MS);
    await until(() => records.list().length === 0, { what: "the old record being dropped" });
    const stopped = collector.stop();
    clock.advance(0);
    await stopped;
  });
});

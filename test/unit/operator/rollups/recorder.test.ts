import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { KubeError } from "../../../../operator/kit/client/errors.ts";
import type { RollupStore } from "../../../../operator/ports/rollups.ts";
import { createRecorder } from "../../../../operator/rollups/recorder.ts";
import { memoryRollupStore } from "../../../support/doubles/memory/costs/rollups.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import { silentLog } from "../../../support/fixtures/silent-log.ts";

const NOON = "2026-03-04T12:00:00.000Z";
const { signal } = new AbortController();

/** Result of a write: it is lost, its answer is lost, or both arrive. */
type Fate = "done" | "lost" | "unanswered";

/** The store with these results of writes, in order, and success after the last. */
function unreliable(store: RollupStore, fates: Fate[]): RollupStore {
  const writing = async (write: () => Promise<boolean>) => {
    const fate = fates.shift() ?? "done";
    if (fate === "lost") throw new KubeError({ status: 429, reason: "TooManyRequests" });
    const answer = await write();
    if (fate === "unanswered") throw new KubeError({ status: 0, reason: "Timeout" });
    return answer;
  };
  return {
    ...store,
    create: (day, content) => writing(() => store.create(day, content)),
    replace: (former, content) => writing(() => store.replace(former, content)),
  };
}

async function totals(store: RollupStore): Promise<Record<string, number>> {
  const total: Record<string, number> = {};
  for (const { slots } of await store.list(signal)) {
    for (const counts of Object.values(slots)) {
      for (const [name, count] of Object.entries(counts)) total[name] = (total[name] ?? 0) + count;
    }
  }
  return total;
}

test("counts are by five minutes and by day", async () => {
  const clock = new TestClock("2026-03-04T23:58:00.000Z");
  const store = memoryRollupStore();
  const recorder = createRecorder({ store, writer: "one", clock, log: silentLog });
  recorder.count("requests", "request_errors");
  clock.advance(60_000);
  recorder.count("requests");
  clock.advance(120_000);
  recorder.count("requests");
  await recorder.flush();
  const days = (await store.list(signal)).map(({ day, slots }) => ({ day, slots }));
  expect(days).toEqual([
    { day: "2026-03-04", slots: { "23:55": { requests: 2, request_errors: 1 } } },
    { day: "2026-03-05", slots: { "00:00": { requests: 1 } } },
  ]);
});

type Act = readonly [replica: number, does: "count" | "flush" | "next day"];

/** Two replicas with these results of their writes count. Answers each one's count after all storable writes. */
async function done(acts: readonly Act[], fates: readonly (readonly Fate[])[], store: RollupStore) {
  const clock = new TestClock(NOON);
  const recorders = fates.map((ofOne, index) =>
    createRecorder({ store: unreliable(store, [...ofOne]), writer: `replica-${index}`, clock, log: silentLog }),
  );
  const counted: Record<string, number> = {};
  const count = (replica: number) => {
    recorders[replica]?.count(`of-${replica}`);
    counted[`of-${replica}`] = (counted[`of-${replica}`] ?? 0) + 1;
  };
  const flushes: unknown[] = [];
  const ways = {
    count,
    flush: (replica: number) => void flushes.push(recorders[replica]?.flush()),
    "next day": () => clock.advance(86_400_000),
  };
  for (const [replica, does] of acts) ways[does](replica);
  await Promise.all(flushes);
  // Once more than the number of results.
  for (let times = 0; times <= 12; times += 1) for (const recorder of recorders) await recorder.flush();
  return counted;
}

test("every count is stored exactly once, whatever becomes of the writes of two replicas", async () => {
  const act = fc.tuple(fc.nat({ max: 1 }), fc.constantFrom("count", "flush", "next day") as fc.Arbitrary<Act[1]>);
  const fates = fc.array(fc.constantFrom<Fate>("done", "lost", "unanswered"), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 30 }), fc.tuple(fates, fates), async (acts, ofReplicas) => {
      const store = memoryRollupStore();
      const counted = await done(acts, ofReplicas, store);
      expect(await totals(store)).toEqual(counted);
    }),
  );
});

describe("the names of writers", () => {
  test("are forgotten when they were silent for hours", async () => {
    const clock = new TestClock("2026-03-04T00:00:00.000Z");
    const store = memoryRollupStore();
    const [one, other] = ["one", "other"].map((writer) => createRecorder({ store, writer, clock, log: silentLog }));
    one?.count("requests");
    await one?.flush();
    clock.advance(5 * 3_600_000);
    other?.count("requests");
    await other?.flush();
    const writers = async () => Object.keys((await store.find("2026-03-04"))?.writers ?? {}).sort();
    expect(await writers()).toEqual(["one", "other"]);
    clock.advance(2 * 3_600_000);
    other?.count("requests");
    await other?.flush();
    expect(await writers()).toEqual(["other"]);
    expect(await totals(store)).toEqual({ requests: 3 });
  });
});

test("so many names of writers are known at most, the latest ones", async () => {
  const clock = new TestClock(NOON);
  const store = memoryRollupStore();
  for (let index = 0; index < 300; index += 1) {
    const recorder = createRecorder({ store, writer: `writer-${index}`, clock, log: silentLog });
    recorder.count("requests");
    await recorder.flush();
    clock.advance(1_000);
  }
  const writers = Object.keys((await store.find("2026-03-04"))?.writers ?? {});
  expect(writers).toHaveLength(256);
  expect(writers).toContain("writer-299");
  expect(writers).not.toContain("writer-43");
  expect(await totals(store)).toEqual({ requests: 300 });
});

test("what waits for an API server that is away is bounded: the oldest is lost, and said so", async () => {
  const clock = new TestClock(NOON);
  const store = memoryRollupStore();
  let isAway = true;
  const away: RollupStore = {
    ...store,
    find: (day) => (isAway ? Promise.reject(new KubeError({ status: 0, reason: "Unreachable" })) : store.find(day)),
  };
  const lost: unknown[] = [];
  const log = { ...silentLog, warn: (message: string, facts?: object) => lost.push([message, facts]) };
  const recorder = createRecorder({ store: away, writer: "one", clock, log });
  for (let slot = 0; slot < 2 * 288; slot += 1) {
    recorder.count("requests");
    clock.advance(300_000);
    if (slot % 48 === 0) await recorder.flush();
  }
  await recorder.flush();
  expect(lost.some((line) => JSON.stringify(line).includes("counts are lost"))).toBe(true);
  isAway = false;
  await recorder.flush();
  const { requests = 0 } = await totals(store);
  expect(requests).toBeGreaterThanOrEqual(288);
  expect(requests).toBeLessThan(2 * 288);
});

test("counts are reported as stored when they are, and not while they wait", async () => {
  const store = memoryRollupStore();
  const reported: string[] = [];
  const recorder = createRecorder({
    store: unreliable(store, ["lost"]),
    writer: "one",
    clock: new TestClock(NOON),
    log: silentLog,
    stored: () => void reported.push("stored"),
  });
  recorder.count("requests");
  await recorder.flush();
  expect(reported).toEqual([]);
  await recorder.flush();
  expect(reported).toEqual(["stored"]);
});

test("what is counted while counts are stored waits for the next time", async () => {
  const store = memoryRollupStore();
  let writes = 0;
  /** Each write takes time, in which more is counted. */
  const busy = async (write: () => Promise<boolean>) => {
    writes += 1;
    recorder.count("requests");
    return write();
  };
  const recorder = createRecorder({
    store: {
      ...store,
      create: (day, content) => busy(() => store.create(day, content)),
      replace: (former, content) => busy(() => store.replace(former, content)),
    },
    writer: "one",
    clock: new TestClock(NOON),
    log: silentLog,
  });
  recorder.count("requests");
  await recorder.flush();
  expect(writes).toBe(1);
  expect(await totals(store)).toEqual({ requests: 1 });
  await recorder.flush();
  expect(writes).toBe(2);
  expect(await totals(store)).toEqual({ requests: 2 });
});

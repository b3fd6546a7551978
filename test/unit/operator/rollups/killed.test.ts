import { expect, test } from "@jest/globals";
import { coverageOf } from "../../../../api/observability/counted.ts";
import { createRecorder, flushRegularly } from "../../../../operator/rollups/recorder.ts";
import { memoryRollupStore } from "../../../support/doubles/memory/costs/rollups.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import { silentLog } from "../../../support/fixtures/silent-log.ts";
import { until } from "../../../support/fixtures/until.ts";

const { signal } = new AbortController();

test("a process that is killed loses what it counted since it last stored that, and the coverage says so", async () => {
  const clock = new TestClock("2026-03-04T12:00:00.000Z");
  const store = memoryRollupStore();
  const stored = async () => {
    const slots = (await store.list(signal)).flatMap((one) => Object.values(one.slots));
    return slots.reduce((sum, { requests = 0 }) => sum + requests, 0);
  };
  const start = (writer: string) => {
    const recorder = createRecorder({ store, writer, clock, log: silentLog });
    const end = flushRegularly(recorder, clock);
    return { end, count: (times: number) => recorder.count(...Array.from({ length: times }, () => "requests")) };
  };
  const coverage = coverageOf({
    summaryRevision: 0,
    days: () => [{ day: "2026-03-04", slots: { "12:00": { requests: 5 } }, summary: undefined }],
  });
  expect(coverage).toEqual({ requests_since: "2026-03-04T12:00:00.000Z", lost_by_a_kill_seconds: 10 });
  const mostLostMs = coverage.lost_by_a_kill_seconds * 1_000;

  const killed = start("killed");
  await until(() => clock.pending.includes(mostLostMs));
  killed.count(5);
  clock.advance(mostLostMs);
  await until(async () => (await stored()) === 5);
  // The process runs nothing after this.
  killed.count(3);
  clock.advance(mostLostMs - 1);
  expect(await stored()).toBe(5);

  const next = start("next");
  next.count(7);
  await next.end();
  expect(await stored()).toBe(12);
});

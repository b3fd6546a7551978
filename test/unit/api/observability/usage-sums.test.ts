import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { costReport, dearestFirst } from "../../../../api/costs/report.ts";
import { usageStatistics } from "../../../../api/insights/analytics.ts";
import { recommendationsFor } from "../../../../api/insights/cost-analysis.ts";
import { sleepCandidates } from "../../../../api/insights/sleep.ts";
import { KNOWN_USERS } from "../../../../api/insights/users.ts";
import { createMemo, type Memo, type UsageSum } from "../../../../api/observability/memo.ts";
import { usageMetrics } from "../../../../api/observability/platform-metrics.ts";
import { usageScores } from "../../../../api/observability/slo.ts";
import { type PeriodSummary, summaryOf } from "../../../../crds/usage/period-summary.ts";
import type { UsagePart } from "../../../../crds/usage/usage-parts.ts";
import type { UsageRecord } from "../../../../crds/usage/usage-record.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import { fixtureSettings } from "../../../support/fixtures/environment/environment-fixture.ts";
import { aUsageRecord } from "../../../support/fixtures/random-usage-records.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const BEGIN = new Date(5 * DAY + 3 * HOUR);
const settings = {
  ...fixtureSettings,
  costs: { currency: "EUR", cpuCoreHour: 0.031, memoryGibHour: 0.0042, storageGibHour: 0.0001 },
};
const queries = [{}, { window: "24h" }, { from: "1970-01-02T05:00:00Z", to: "1970-01-05T00:00:00Z" }] as const;

const MOST = 30;

/** An environment that is gone, or one that is there. */
const anEnvironment = fc
  .record({
    gone: aUsageRecord,
    isThere: fc.boolean(),
    phase: fc.constantFrom("ready" as const, "failed" as const, "creating" as const),
    ttlHours: fc.option(fc.nat(100), { nil: undefined }),
    isUnanswered: fc.boolean(),
    isSleepOpen: fc.boolean(),
  })
  .map(({ gone, isThere, ...there }): UsageRecord => {
    const { createdMs } = gone;
    const living = { deletedMs: undefined, goneMs: undefined, dueMs: createdMs + 3 * DAY, changedMs: createdMs };
    return isThere ? { ...gone, ...living, ...there } : gone;
  });

/** Each change is of one of a few environments: with a record it is created or updated, without it is deleted. */
const changes = fc.array(
  fc.record({
    index: fc.nat(MOST),
    record: fc.option(anEnvironment, { nil: undefined }),
    laterMs: fc.constantFrom(0, 60_000, 7 * HOUR),
  }),
  { minLength: 1, maxLength: 12 },
);

function scene(stored: readonly { readonly day: string; readonly summary: PeriodSummary }[]) {
  const clock = new TestClock(BEGIN.toISOString());
  const records = new Map<number, UsageRecord>();
  const parts: UsagePart[] = [[], [], []];
  const history = { revision: 0 };
  const rollups = { summaryRevision: 0, days: () => stored };
  return {
    clock,
    records,
    rollups,
    memo: createMemo({ usageParts: () => parts, history, rollups, clock }),
    change(index: number, record: UsageRecord | undefined) {
      if (record === undefined) records.delete(index);
      else records.set(index, { ...record, uid: `uid-${index}`, name: `name-${index}` });
      const part = index % parts.length;
      parts[part] = [...records].filter(([other]) => other % parts.length === part).map(([, one]) => one);
      history.revision += 1;
    },
  };
}

type Sums = ReturnType<typeof scene>;

/** Answers of all dashboards by that memo, as what is compared. */
function answersOf(memo: Memo, rollups: Sums["rollups"]) {
  const ofQueries = queries.map((query, index) => {
    const report = memo.of(`report ${index}`, costReport(query, { settings, rollups }));
    return {
      metrics: memo.of(`metrics ${index}`, usageMetrics(query)),
      scores: memo.of(`scores ${index}`, usageScores(query)),
      report: { ...report, prices: report.prices.flatMap((prices) => prices()).sort(dearestFirst) },
      whole: report.summary.whole,
      statistics: memo.of(`statistics ${index}`, usageStatistics(query)),
    };
  });
  return {
    ofQueries,
    users: memo.of("users", KNOWN_USERS),
    recommendations: memo.of("recommendations", recommendationsFor(settings)),
    candidates: memo.of("candidates", sleepCandidates(settings)),
  };
}

const fromScratch = (records: readonly UsageRecord[], now: Date): Memo => ({
  of: <P extends object, A extends object>(_key: string, sum: UsageSum<P, A>) =>
    sum.whole([sum.ofPart(records, now)], now),
});

test("after any changes, in any time, the answers are those that are summed from scratch", () => {
  fc.assert(
    fc.property(changes, fc.array(anEnvironment, { maxLength: MOST }), fc.boolean(), (all, first, isStored) => {
      const day = { fromMs: DAY, toMs: 2 * DAY };
      const summary = summaryOf(first, day, BEGIN.getTime());
      const { clock, records, rollups, memo, change } = scene(isStored ? [{ day: "1970-01-02", summary }] : []);
      for (const [index, record] of first.entries()) change(index, record);
      for (const { index, record, laterMs } of all) {
        answersOf(memo, rollups);
        clock.advance(laterMs);
        change(index, record);
        const expected = answersOf(fromScratch([...records.values()], clock.now()), rollups);
        expect(answersOf(memo, rollups)).toEqual(expected);
      }
    }),
    { numRuns: 100 },
  );
});

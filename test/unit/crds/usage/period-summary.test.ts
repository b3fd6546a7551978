import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  cappedRows,
  DIMENSIONS,
  NO_TOTALS,
  OTHERS,
  summaryOf,
  sumOfSummaries,
  sumOfTotals,
} from "../../../../crds/usage/period-summary.ts";
import { type UsageRecord, usageOfRecord } from "../../../../crds/usage/usage-record.ts";
import { aUsageRecord } from "../../../support/fixtures/random-usage-records.ts";

const HOUR = 3_600_000;
const at = (ms: number) => new Date(ms).toISOString();

const records = fc.array(aUsageRecord, { maxLength: 30 });
const NOW = 120 * HOUR;

describe("a summary", () => {
  test("has rows that add up to the whole, in each dimension, named or not", () => {
    fc.assert(
      fc.property(records, fc.nat(3), (all, most) => {
        const { total, by } = summaryOf(all, { fromMs: 20 * HOUR, toMs: 90 * HOUR }, NOW);
        for (const dimension of DIMENSIONS) {
          expect(sumOfTotals(by[dimension].values())).toEqual(total);
          const capped = cappedRows(by[dimension], { most, mostBytes: 1_000 });
          expect([...capped.keys()].filter((name) => name !== OTHERS).length).toBeLessThanOrEqual(most);
          expect(sumOfTotals(capped.values())).toEqual(total);
        }
      }),
    );
  });

  test("of a time is the sum of those of its parts", () => {
    fc.assert(
      fc.property(records, fc.nat(110 * HOUR), (all, betweenMs) => {
        const [fromMs, toMs] = [0, 110 * HOUR];
        const parts = [
          summaryOf(all, { fromMs, toMs: betweenMs }, NOW),
          summaryOf(all, { fromMs: betweenMs, toMs }, NOW),
        ];
        expect(sumOfSummaries(parts)).toEqual(summaryOf(all, { fromMs, toMs }, NOW));
      }),
    );
  });

  test("knows the most environments that were there together: one that goes when another comes is not", () => {
    const record = (createdMs: number, goneMs: number) =>
      usageOfRecord({
        name: "x",
        uid: "x",
        reason: "deleted",
        teardownSeconds: 0,
        createdAt: at(createdMs),
        deletedAt: at(goneMs),
        goneAt: at(goneMs),
      });
    const peakOf = (...all: UsageRecord[]) => summaryOf(all, { fromMs: 0, toMs: 10 * HOUR }, NOW).peak;
    expect(peakOf()).toBe(0);
    expect(peakOf(record(HOUR, 2 * HOUR), record(2 * HOUR, 3 * HOUR))).toBe(1);
    expect(peakOf(record(HOUR, 4 * HOUR), record(2 * HOUR, 3 * HOUR), record(3 * HOUR, 4 * HOUR))).toBe(2);
    expect(peakOf(record(HOUR, 40 * HOUR), record(11 * HOUR, 12 * HOUR))).toBe(1);
  });

  test("without environments is nothing", () => {
    expect(summaryOf([], { fromMs: 0, toMs: HOUR }, NOW).total).toEqual(NO_TOTALS);
  });
});

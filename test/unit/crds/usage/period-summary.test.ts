import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  cappedRows,
  DIMENSIONS,
  NO_TALLY,
  OTHERS,
  summaryOf,
  sumOfSummaries,
  sumOfTallies,
} from "../../../../crds/usage/period-summary.ts";
import { type Life, lifeOfRecord } from "../../../../crds/usage/usage-record.ts";
import { aLife } from "../../../support/fixtures/random-usage-records.ts";

const HOUR = 3_600_000;
const at = (ms: number) => new Date(ms).toISOString();

const lives = fc.array(aLife, { maxLength: 30 });
const NOW = 120 * HOUR;

describe("a summary", () => {
  test("has rows that add up to the whole, in each dimension, named or not", () => {
    fc.assert(
      fc.property(lives, fc.nat(3), (all, most) => {
        const { total, by } = summaryOf(all, { fromMs: 20 * HOUR, toMs: 90 * HOUR }, NOW);
        for (const dimension of DIMENSIONS) {
          expect(sumOfTallies(by[dimension].values())).toEqual(total);
          const capped = cappedRows(by[dimension], { most, mostBytes: 1_000 });
          expect([...capped.keys()].filter((name) => name !== OTHERS).length).toBeLessThanOrEqual(most);
          expect(sumOfTallies(capped.values())).toEqual(total);
        }
      }),
    );
  });

  test("of a time is the sum of those of its parts", () => {
    fc.assert(
      fc.property(lives, fc.nat(110 * HOUR), (all, betweenMs) => {
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
    const life = (createdMs: number, goneMs: number) =>
      lifeOfRecord({
        name: "x",
        uid: "x",
        reason: "deleted",
        teardownSeconds: 0,
        createdAt: at(createdMs),
        deletedAt: at(goneMs),
        goneAt: at(goneMs),
      });
    const peakOf = (...all: Life[]) => summaryOf(all, { fromMs: 0, toMs: 10 * HOUR }, NOW).peak;
    expect(peakOf()).toBe(0);
    expect(peakOf(life(HOUR, 2 * HOUR), life(2 * HOUR, 3 * HOUR))).toBe(1);
    expect(peakOf(life(HOUR, 4 * HOUR), life(2 * HOUR, 3 * HOUR), life(3 * HOUR, 4 * HOUR))).toBe(2);
    expect(peakOf(life(HOUR, 40 * HOUR), life(11 * HOUR, 12 * HOUR))).toBe(1);
  });

  test("without environments is nothing", () => {
    expect(summaryOf([], { fromMs: 0, toMs: HOUR }, NOW).total).toEqual(NO_TALLY);
  });
});

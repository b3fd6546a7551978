import { describe, expect, test } from "@jest/globals";
import { createMemo } from "../../../../api/observability/memo.ts";
import type { UsageRecord } from "../../../../crds/usage/usage-record.ts";
import { laterTurn } from "../../../../operator/kit/time/yield-if-due.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";

const PARTS = 40;
const FIRST = "2026-01-01T00:00:00.250Z";
/** Resolves after the work that was left for later turns. */
const summedLater = () => laterTurn("background");
const aPart = (): readonly UsageRecord[] => [];

function scene() {
  const clock = new TestClock(FIRST);
  const history = { revision: 1 };
  const rollups = { summaryRevision: 1 };
  let parts = Array.from({ length: PARTS }, aPart);
  const memo = createMemo({ usageParts: () => parts, history, rollups, clock });
  let summed = 0;
  const sum = {
    ofPart: (_records: readonly UsageRecord[], at: Date) => {
      summed += 1;
      return at;
    },
    whole: (ats: readonly Date[], now: Date) => ({
      now: now.toISOString(),
      oldestMs: Math.max(...ats.map((at) => now.getTime() - at.getTime())),
    }),
  };
  return {
    clock,
    memo,
    rollups,
    /** Changes the records of one part. */
    change() {
      parts = [aPart(), ...parts.slice(1)];
      history.revision += 1;
    },
    ask: (key = "metrics") => memo.of(key, sum),
    /** Number of parts that were summed since the last call. */
    summed() {
      const count = summed;
      summed = 0;
      return count;
    },
  };
}

describe("an answer", () => {
  test("is the same within a second without a change", () => {
    const { clock, ask, summed } = scene();
    const first = ask();
    clock.advance(999);
    expect([ask(), summed()]).toEqual([first, PARTS]);
  });

  test("is summed from all parts anew after midnight UTC, when stored sums of days take the place of parts", () => {
    const { clock, ask, summed } = scene();
    clock.advance(86_400_000 - 10_000);
    ask();
    summed();
    clock.advance(20_000);
    ask();
    expect(summed()).toBe(PARTS);
  });

  test("is anew after every change, of which only the changed part is summed", () => {
    const { clock, change, ask, summed } = scene();
    ask();
    summed();
    change();
    clock.advance(10);
    expect([ask().now, summed()]).toEqual(["2026-01-01T00:00:00.260Z", 1]);
  });

  test("is given once more after a second, and then summed anew for the next request", async () => {
    const { clock, ask, summed } = scene();
    ask();
    summed();
    clock.advance(1_000);
    expect([ask().now, ask().now, summed()]).toEqual([FIRST, FIRST, 0]);
    await summedLater();
    expect([summed(), ask().now]).toEqual([1, "2026-01-01T00:00:01.250Z"]);
  });

  test("of two seconds ago is not given any more", () => {
    const { clock, ask, summed } = scene();
    ask();
    summed();
    clock.advance(2_000);
    expect([ask().now, summed()]).toEqual(["2026-01-01T00:00:02.250Z", 1]);
  });

  test("that can't be summed after a request fails the next one", async () => {
    const { clock, memo } = scene();
    const broken = { isBroken: false };
    const sum = {
      ofPart: () => {
        if (broken.isBroken) throw new Error("no such rate");
        return {};
      },
      whole: () => ({}),
    };
    memo.of("costs", sum);
    broken.isBroken = true;
    clock.advance(1_000);
    memo.of("costs", sum);
    await summedLater();
    expect(() => memo.of("costs", sum)).toThrow("no such rate");
  });

  test("is summed anew from all parts after a minute without a question", () => {
    const { clock, ask, summed } = scene();
    ask();
    summed();
    clock.advance(60_000);
    expect([ask().oldestMs, summed()]).toEqual([0, PARTS]);
  });

  test("is never summed anew from many parts at once while it is asked for, and no part is a minute old", async () => {
    const { clock, ask, summed } = scene();
    ask();
    summed();
    for (let second = 0; second < 200; second += 1) {
      clock.advance(1_000);
      expect(ask().oldestMs).toBeLessThan(60_000);
      await summedLater();
      expect(summed()).toBeLessThanOrEqual(1);
    }
  });

  test("is summed anew when the clock is set back", () => {
    const { clock, ask, summed } = scene();
    ask();
    summed();
    clock.advance(-3_600_000);
    expect([ask().oldestMs, summed()]).toEqual([0, PARTS]);
  });

  test("is summed anew when the sum of a day is stored", () => {
    const { rollups, ask, summed } = scene();
    ask();
    summed();
    rollups.summaryRevision = 2;
    ask();
    expect(summed()).toBe(PARTS);
  });
});

test("many questions are answered, however many there were", () => {
  const { ask, summed } = scene();
  for (let number = 0; number < 1_000; number += 1) ask(`metrics ${number}`);
  expect(summed()).toBe(1_000 * PARTS);
  ask("metrics 999");
  expect(summed()).toBe(0);
});

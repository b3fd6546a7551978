import { describe, expect, test } from "@jest/globals";
import { MINUTE_MS } from "../../../../crds/durations.ts";
import { rest } from "../../../../deploy/build/wait.ts";

/** Rests on a machine whose `nth` pause takes more or less time than its timers count; answers the pauses. */
async function pausesOf(ms: number, { nth = 0, jumpMs = 0 } = {}): Promise<number[]> {
  let nowMs = Date.parse("2026-01-01T00:00:00Z");
  const pauses: number[] = [];
  const pause = async (pausedMs: number) => {
    pauses.push(pausedMs);
    nowMs += pausedMs + (pauses.length === nth ? jumpMs : 0);
  };
  await rest(ms, { now: () => nowMs, pause });
  return pauses;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

describe("a rest", () => {
  test.each([0, 1, 5_000, MINUTE_MS, 48 * MINUTE_MS + 1])("of %s ms lasts as long", async (ms) => {
    expect(sum(await pausesOf(ms))).toBe(ms);
  });

  test("is over within a minute of waking when the machine slept past its end", async () => {
    const pauses = await pausesOf(48 * MINUTE_MS, { nth: 3, jumpMs: 8 * 60 * MINUTE_MS });
    expect(pauses).toHaveLength(3);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(MINUTE_MS);
  });

  test("counts a sleep that is over before its end", async () => {
    expect(sum(await pausesOf(48 * MINUTE_MS, { nth: 1, jumpMs: 40 * MINUTE_MS }))).toBe(8 * MINUTE_MS);
  });

  test("is not prolonged by a clock that is set back", async () => {
    expect(sum(await pausesOf(48 * MINUTE_MS, { nth: 1, jumpMs: -60 * MINUTE_MS }))).toBe(48 * MINUTE_MS);
  });

  test("of zero or less, as for an expired token, ends at once", async () => {
    expect(await pausesOf(-MINUTE_MS)).toEqual([]);
  });
});

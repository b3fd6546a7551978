import { expect, test } from "@jest/globals";
import { byTheHour, countWithin, durationCounter, merged, quantileMs } from "../../../../crds/usage/rollup.ts";

const counted = (name: string, durations: readonly number[]) => {
  const counts: Record<string, number> = {};
  for (const ms of durations) counts[durationCounter(name, ms)] = (counts[durationCounter(name, ms)] ?? 0) + 1;
  return counts;
};

test("slots are merged counter by counter, and joined by the hour", () => {
  const sum = merged({ "09:00": { a: 1 }, "09:55": { a: 2 } }, { "09:55": { a: 3, b: 1 }, "10:00": { b: 4 } });
  expect(sum).toEqual({ "09:00": { a: 1 }, "09:55": { a: 5, b: 1 }, "10:00": { b: 4 } });
  expect(byTheHour(sum)).toEqual({ "09:00": { a: 6, b: 1 }, "10:00": { b: 4 } });
});

test.each([
  [[], 0.95, undefined],
  [[100, 100], 0.5, 75],
  [[3, 8, 20, 40], 0.5, 10],
  [[3, 8, 20, 40], 1, 50],
  [[3, 60_000], 0.95, 30_000],
])("of %j, a share of %d is below %d ms", (durations, share, expected) => {
  expect(quantileMs(counted("webhook_ms", durations), "webhook_ms", share)).toBe(expected);
});

test("durations within a bound are counted, where they are counted by it", () => {
  const counts = counted("webhook_ms", [1, 99, 100, 101, 5_000]);
  expect(countWithin(counts, "webhook_ms", 100)).toBe(3);
  expect(() => countWithin(counts, "webhook_ms", 99)).toThrow("not counted by 99 ms");
});

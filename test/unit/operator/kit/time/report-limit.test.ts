import { expect, test } from "@jest/globals";
import { HOUR_MS } from "../../../../../crds/durations.ts";
import { reportLimit } from "../../../../../operator/kit/time/rate-limits.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";

test("is due at once, then once an hour, and at once again after a reset, which answers true after a report", () => {
  const clock = new TestClock();
  const limit = reportLimit(clock);
  expect(limit.reset()).toBe(false);
  expect([limit.isDue(), limit.isDue()]).toEqual([true, false]);
  clock.advance(HOUR_MS - 1);
  expect(limit.isDue()).toBe(false);
  clock.advance(1);
  expect([limit.isDue(), limit.isDue()]).toEqual([true, false]);
  expect([limit.reset(), limit.reset()]).toEqual([true, false]);
  expect(limit.isDue()).toBe(true);
});

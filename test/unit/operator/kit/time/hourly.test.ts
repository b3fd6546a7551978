import { expect, test } from "@jest/globals";
import { HOUR_MS } from "../../../../../crds/durations.ts";
import { hourly } from "../../../../../operator/kit/time/rate-limits.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";

test("is due at once, then once an hour, and at once again after a reset, which answers true after a report", () => {
  const clock = new TestClock();
  const telling = hourly(clock);
  expect(telling.reset()).toBe(false);
  expect([telling.isDue(), telling.isDue()]).toEqual([true, false]);
  clock.advance(HOUR_MS - 1);
  expect(telling.isDue()).toBe(false);
  clock.advance(1);
  expect([telling.isDue(), telling.isDue()]).toEqual([true, false]);
  expect([telling.reset(), telling.reset()]).toEqual([true, false]);
  expect(telling.isDue()).toBe(true);
});

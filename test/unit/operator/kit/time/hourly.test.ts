import { expect, test } from "@jest/globals";
import { hourly } from "../../../../../operator/kit/time/rate-limits.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";

const HOUR_MS = 3_600_000;

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

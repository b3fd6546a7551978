import { describe, expect, test } from "@jest/globals";
import { createSchedule } from "../../../../../operator/controllers/environment/schedule.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { UID } from "../../../../support/fixtures/environment/environment-fixture.ts";

describe("a schedule", () => {
  const period = 60_000;
  const uid = (first: string) => `${first}-1111-4222-8333-444455556666`;

  test.each([
    ["00000000", 0],
    ["80000000", 30_000],
    ["ffffffff", 60_000],
  ])("spreads what is seen first over a period: %s after %s ms", (first, expected) => {
    expect(createSchedule(new TestClock(), period).dueInMs(uid(first))).toBe(expected);
  });

  test("counts a period from each time, and starts anew for what it forgot", () => {
    const clock = new TestClock();
    const schedule = createSchedule(clock, period);
    schedule.taken(UID);
    clock.advance(20_000);
    expect(schedule.dueInMs(UID)).toBe(40_000);
    clock.advance(50_000);
    expect(schedule.dueInMs(UID)).toBe(0);
    const half = uid("80000000");
    schedule.taken(half);
    schedule.forget(half);
    expect(schedule.dueInMs(half)).toBe(30_000);
  });

  test("comes again soon for what was tried in vain, later each time, until it went well", () => {
    const clock = new TestClock();
    const schedule = createSchedule(clock, period);
    const tried = () => {
      schedule.taken(UID);
      const pauseMs = schedule.again(UID, 20_000);
      expect(schedule.dueInMs(UID)).toBe(pauseMs);
      clock.advance(pauseMs);
      expect(schedule.dueInMs(UID)).toBe(0);
      return pauseMs;
    };
    expect([tried(), tried(), tried(), tried()]).toEqual([20_000, 40_000, period, period]);
    schedule.succeeded(UID);
    expect(tried()).toBe(20_000);
  });

  test("is sooner for an unclear state", () => {
    const clock = new TestClock();
    const schedule = createSchedule(clock, period);
    schedule.taken(UID);
    clock.advance(5_000);
    expect(schedule.dueInMs(UID, 10_000)).toBe(5_000);
    clock.advance(5_000);
    expect(schedule.dueInMs(UID, 10_000)).toBe(0);
    expect(schedule.dueInMs(UID)).toBe(50_000);
  });
});

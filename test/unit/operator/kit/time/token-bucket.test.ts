import { describe, expect, test } from "@jest/globals";
import { tokenBucket } from "../../../../../operator/kit/time/rate-limits.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";

function drain(budget: ReturnType<typeof tokenBucket>): number {
  let taken = 0;
  while (taken < 10_000 && budget.take()) taken += 1;
  return taken;
}

describe("the write budget", () => {
  test("saves up for twelve seconds, and no longer", () => {
    const clock = new TestClock();
    const budget = tokenBucket(clock, 8);
    clock.advance(3_600_000);
    expect(drain(budget)).toBe(96);
  });

  test.each([
    { name: "nothing comes in without time", waitMs: 0, expected: 0 },
    { name: "a part of a write is no write", waitMs: 124, expected: 0 },
    { name: "one write after its time", waitMs: 125, expected: 1 },
    { name: "many after more", waitMs: 2_000, expected: 16 },
  ])("once it is used up: $name", ({ waitMs, expected }) => {
    const clock = new TestClock();
    const budget = tokenBucket(clock, 8);
    drain(budget);
    clock.advance(waitMs);
    expect(drain(budget)).toBe(expected);
  });

  test("stays below 600 a minute at 8 a second, whenever the minute begins", () => {
    const clock = new TestClock();
    const budget = tokenBucket(clock, 8);
    let taken = 0;
    for (let second = 0; second < 60; second++) {
      taken += drain(budget);
      clock.advance(1_000);
    }
    expect(taken).toBeLessThanOrEqual(600);
    expect(taken).toBeGreaterThan(480);
  });

  test("asking in vain costs nothing", () => {
    const clock = new TestClock();
    const budget = tokenBucket(clock, 1);
    drain(budget);
    for (let tenth = 0; tenth < 10; tenth++) {
      expect(budget.take()).toBe(false);
      clock.advance(100);
    }
    expect(budget.take()).toBe(true);
  });
});

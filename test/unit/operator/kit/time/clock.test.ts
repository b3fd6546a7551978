import { describe, expect, test } from "@jest/globals";
import { elapsedMs, pause } from "../../../../../operator/kit/time/clock.ts";
import { boundedSignal } from "../../../../../operator/kit/time/deadline.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";

test.each([
  { name: "the past", since: "2026-01-01T00:00:00Z", expected: 60_000 },
  { name: "the future is as long past, whose clock was set back", since: "2026-01-01T00:02:00Z", expected: 60_000 },
])("what lies in $name", ({ since, expected }) => {
  expect(elapsedMs(new Date(since), new Date("2026-01-01T00:01:00Z"))).toBe(expected);
});

describe("pause", () => {
  test("ends after its time", async () => {
    const clock = new TestClock();
    const paused = pause(clock, 1_000, new AbortController().signal);
    clock.advance(1_000);
    await paused;
  });

  test("ends at once with its signal, and leaves no timer", async () => {
    const clock = new TestClock();
    const stopping = new AbortController();
    const paused = pause(clock, 1_000, stopping.signal);
    stopping.abort();
    await paused;
    expect(clock.pending).toEqual([]);
    await pause(clock, 1_000, stopping.signal);
  });
});

describe("boundedSignal", () => {
  test.each([
    { name: "the deadline", cut: "deadline" },
    { name: "the caller", cut: "caller" },
  ] as const)("is cut by $name, and says so", ({ cut }) => {
    const clock = new TestClock();
    const caller = new AbortController();
    const bound = boundedSignal({ clock, deadlineMs: 1_000, signals: [caller.signal] });
    expect([bound.signal.aborted, bound.cutBy()]).toEqual([false, undefined]);
    if (cut === "caller") caller.abort();
    clock.advance(1_000);
    expect([bound.signal.aborted, bound.cutBy()]).toEqual([true, cut]);
  });

  test("is cut from the start by a caller who has left", () => {
    expect(boundedSignal({ clock: new TestClock(), deadlineMs: 1, signals: [AbortSignal.abort()] }).cutBy()).toBe(
      "caller",
    );
  });

  test("once released follows no signal", () => {
    const clock = new TestClock();
    const caller = new AbortController();
    const bound = boundedSignal({ clock, deadlineMs: 1_000, signals: [caller.signal] });
    bound.release();
    caller.abort();
    clock.advance(1_000);
    expect([bound.signal.aborted, clock.pending]).toEqual([false, []]);
  });
});

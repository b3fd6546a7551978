import { describe, expect, test } from "@jest/globals";
import { pause } from "../../../../operator/kit/clock.ts";
import { boundedSignal } from "../../../../operator/kit/deadline.ts";
import { TestClock } from "../../../support/test-clock.ts";

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

  test("once released follows nobody", () => {
    const clock = new TestClock();
    const caller = new AbortController();
    const bound = boundedSignal({ clock, deadlineMs: 1_000, signals: [caller.signal] });
    bound.release();
    caller.abort();
    clock.advance(1_000);
    expect([bound.signal.aborted, clock.pending]).toEqual([false, []]);
  });
});

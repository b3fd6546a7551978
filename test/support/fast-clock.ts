import { type Clock, systemClock } from "../../operator/kit/clock.ts";

/** A clock on which durations and timers run so many times faster; the time of day is everybody's. */
export function fastClock(times: number): Clock {
  return {
    now: () => systemClock.now(),
    monotonicMs: () => systemClock.monotonicMs() * times,
    setTimer: (delayMs, fire) => systemClock.setTimer(delayMs / times, fire),
  };
}

import { setTimeout as pause } from "node:timers/promises";

/** The clocks of a rest: the wall clock, and timers, which stand still while the machine sleeps. */
export interface RestClock {
  now(): number;
  pause(ms: number): Promise<unknown>;
}

/** A machine that wakes knows within this time what it has slept through. */
const SLICE_MS = 10_000;

/**
 * Resolves after so many milliseconds, those included that the machine slept for in the meantime.
 *
 * Two clocks count, and the first to come to the end ends it: a wall clock that is set back prolongs nothing.
 */
export async function rest(ms: number, clock: RestClock = { now: Date.now, pause }): Promise<void> {
  const end = clock.now() + ms;
  for (let leftMs = ms; leftMs > 0 && clock.now() < end; leftMs -= SLICE_MS) {
    await clock.pause(Math.min(leftMs, SLICE_MS));
  }
}

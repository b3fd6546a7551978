import { setTimeout as pause } from "node:timers/promises";

/** The wall clock, and timers, which stop while the machine sleeps. */
export interface RestClock {
  now(): number;
  pause(ms: number): Promise<unknown>;
}

/** Longest single timer: a machine that slept notices the elapsed time within it. */
const SLICE_MS = 10_000;

/**
 * Resolves after so many milliseconds, including the machine's sleep.
 *
 * Either of two clocks ends it: setting the wall clock back prolongs nothing.
 */
export async function rest(ms: number, clock: RestClock = { now: Date.now, pause }): Promise<void> {
  const end = clock.now() + ms;
  for (let leftMs = ms; leftMs > 0 && clock.now() < end; leftMs -= SLICE_MS) {
    await clock.pause(Math.min(leftMs, SLICE_MS));
  }
}

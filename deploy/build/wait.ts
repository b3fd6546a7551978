import { setTimeout as pause } from "node:timers/promises";

/** A wait: a noun phrase for the error, the condition, the deadline in milliseconds. */
export interface Wait {
  readonly what: string;
  /** Answers true when the condition holds. It may fail: the error at the deadline has the last failure. */
  readonly check: () => Promise<boolean> | boolean;
  readonly deadlineMs: number;
  /** Throws when further waiting is pointless, for example because the awaited process has ended. */
  readonly giveUp?: () => void;
}

const pollMs = 40;

/** Waits until the condition holds. Fails at the deadline with the name of the condition. */
export async function waitUntil({ what, check, deadlineMs, giveUp }: Wait): Promise<void> {
  const began = performance.now();
  for (;;) {
    const { holds, failure } = await attempt(check);
    if (holds) return;
    giveUp?.();
    if (performance.now() - began > deadlineMs) {
      throw new Error(`${what} did not come within ${deadlineMs / 1000} s`, { cause: failure });
    }
    await pause(pollMs);
  }
}

/** True when a program of this machine answers this GET with a 2xx within two seconds. Fails without an answer. */
export async function answersWell(url: string): Promise<boolean> {
  return (await fetch(url, { signal: AbortSignal.timeout(2000) })).ok;
}

async function attempt(check: Wait["check"]): Promise<{ holds: boolean; failure?: unknown }> {
  try {
    return { holds: await check() };
  } catch (failure) {
    return { holds: false, failure };
  }
}

/** The wall clock, and timers, which stop while the machine sleeps. */
interface RestClock {
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

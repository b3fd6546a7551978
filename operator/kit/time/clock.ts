/** Ends a timer; harmless when it has fired. */
export type CancelTimer = () => void;

/** Time as the kit sees it, so that tests can own it. */
export interface Clock {
  /** The wall clock: for timestamps that others read, never for measuring. */
  now(): Date;
  /** Milliseconds on a clock that never jumps: for durations and deadlines. */
  monotonicMs(): number;
  /** Calls `fire` once after `delayMs`, which must not exceed `MAX_TIMER_MS`. */
  setTimer(delayMs: number, fire: () => void): CancelTimer;
}

/** The longest delay that a Node timer honours; a longer one fires at once (https://nodejs.org/api/timers.html). */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** The machine's own clocks. */
export const systemClock: Clock = Object.freeze({
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  setTimer: (delayMs: number, fire: () => void) => {
    const timer = setTimeout(fire, delayMs);
    return () => clearTimeout(timer);
  },
});

/**
 * Milliseconds that lie between a moment that was written down and now.
 *
 * A moment in the future was written by a clock that was ahead of this one, or that has been set back since: it counts as
 * long past as it is ahead. So a step of seconds counts as seconds, and after a step of an hour nothing waits for an hour.
 */
export function elapsedMs(since: Date, now: Date): number {
  return Math.abs(now.getTime() - since.getTime());
}

/** Resolves after `delayMs`, or at once when `signal` aborts: never rejects, so that the caller reads the signal. */
export function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = () => {
      cancel();
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const cancel = clock.setTimer(delayMs, finish);
    signal.addEventListener("abort", finish, { once: true });
  });
}

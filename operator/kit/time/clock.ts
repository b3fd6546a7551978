/** Cancels a timer; harmless after it has fired. */
export type CancelTimer = () => void;

/** Time, replaceable in tests. */
export interface Clock {
  /** Wall clock: for timestamps, never for measuring. */
  now(): Date;
  /** Milliseconds on a monotonic clock: for durations and deadlines. */
  monotonicMs(): number;
  /** Calls `fire` once after `delayMs`, which must not exceed `MAX_TIMER_MS`. */
  setTimer(delayMs: number, fire: () => void): CancelTimer;
}

/** Longest delay of a Node timer; a longer one fires at once (https://nodejs.org/api/timers.html). */
export const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = Object.freeze({
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  setTimer: (delayMs: number, fire: () => void) => {
    const timer = setTimeout(fire, delayMs);
    return () => clearTimeout(timer);
  },
});

/**
 * Milliseconds between a stored moment and now.
 *
 * A future moment, after a step of a clock, counts by its distance: after a step of an hour nothing waits for an hour.
 */
export function elapsedMs(since: Date, now: Date): number {
  return Math.abs(now.getTime() - since.getTime());
}

/** Resolves after `delayMs`, or at once when `signal` aborts. Never rejects: read the signal. */
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

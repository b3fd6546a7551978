import type { Clock } from "./clock.ts";

/** Seconds that may be saved up: with what comes in during a minute it stays below what a quota a minute allows. */
const BURST_SECONDS = 12;

/** What may still be written now, without using up a quota that is shared by a whole project. */
export interface TokenBucket {
  /** Takes one write; false when there is none left, and nothing may be written. Never waits. */
  take(): boolean;
}

/** A bucket that is full at first and fills by `perSecond`. */
export function tokenBucket(clock: Clock, perSecond: number): TokenBucket {
  const mostMs = BURST_SECONDS * 1000;
  const writeMs = 1000 / perSecond;
  let savedMs = mostMs;
  let filledAt = clock.monotonicMs();
  return {
    take() {
      const now = clock.monotonicMs();
      savedMs = Math.min(mostMs, savedMs + now - filledAt);
      filledAt = now;
      if (savedMs < writeMs) return false;
      savedMs -= writeMs;
      return true;
    },
  };
}

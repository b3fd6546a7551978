import type { Clock } from "./clock.ts";

/** A full bucket holds the tokens of so many seconds, unless said otherwise. */
const BURST_SECONDS = 12;

/** Bounds how often something is done. */
export interface TokenBucket {
  /** Takes a token; false when there is none left. Never waits. */
  take(): boolean;
}

/** A bucket that is full at first, with the tokens of `burstSeconds`, and fills by `perSecond`. */
export function tokenBucket(clock: Clock, perSecond: number, burstSeconds = BURST_SECONDS): TokenBucket {
  const mostMs = burstSeconds * 1000;
  const tokenMs = 1000 / perSecond;
  let savedMs = mostMs;
  let filledAt = clock.monotonicMs();
  return {
    take() {
      const now = clock.monotonicMs();
      savedMs = Math.min(mostMs, savedMs + now - filledAt);
      filledAt = now;
      if (savedMs < tokenMs) return false;
      savedMs -= tokenMs;
      return true;
    },
  };
}

import type { Clock } from "./clock.ts";

/** Default size of a bucket, in seconds of refilling. */
const BURST_SECONDS = 12;

/** A rate limit. */
export interface TokenBucket {
  /** Takes a token without waiting; false when none is left. */
  take(): boolean;
}

/** A bucket that starts full, holds the tokens of `burstSeconds` and refills at `perSecond`. */
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

const HOUR_MS = 3_600_000;

/** Limits reports of a lasting condition: the first at once, then one an hour. */
export function hourly(clock: Pick<Clock, "monotonicMs">) {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  return {
    /** True when a report is due; the next is due an hour later. */
    isDue(): boolean {
      const nowMs = clock.monotonicMs();
      if (nowMs - toldAtMs < HOUR_MS) return false;
      toldAtMs = nowMs;
      return true;
    },
    /** Ends the condition: the next report is due at once. True when it had been reported. */
    reset(): boolean {
      const wasTold = toldAtMs !== Number.NEGATIVE_INFINITY;
      toldAtMs = Number.NEGATIVE_INFINITY;
      return wasTold;
    },
  };
}

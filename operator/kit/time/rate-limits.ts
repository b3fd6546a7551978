import type { Clock } from "./clock.ts";

/** Default size of a bucket, in seconds of refilling. */
const BURST_SECONDS = 12;

/** A rate limit. */
export interface TokenBucket {
  /** Takes a token without waiting; false when none is left. */
  take(): boolean;
  /**
   * Takes a token that may be still to come, and answers the milliseconds until then. Takes none and answers undefined
   * when these are more than `longestMs`.
   */
  reserve(longestMs: number): number | undefined;
}

/** A bucket that starts full, holds the tokens of `burstSeconds` and refills at `perSecond`. */
export function tokenBucket(clock: Clock, perSecond: number, burstSeconds = BURST_SECONDS): TokenBucket {
  const mostMs = burstSeconds * 1000;
  const tokenMs = 1000 / perSecond;
  let savedMs = mostMs;
  let filledAtMs = clock.monotonicMs();
  const reserve = (longestMs: number) => {
    const nowMs = clock.monotonicMs();
    savedMs = Math.min(mostMs, savedMs + nowMs - filledAtMs);
    filledAtMs = nowMs;
    const waitMs = Math.max(0, tokenMs - savedMs);
    if (waitMs > longestMs) return undefined;
    savedMs -= tokenMs;
    return waitMs;
  };
  return { reserve, take: () => reserve(0) !== undefined };
}

const HOUR_MS = 3_600_000;

/** Limits reports of a lasting condition: the first at once, then one per interval (default an hour). */
export function reportLimit(clock: Clock, intervalMs = HOUR_MS) {
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  return {
    /** True when a report is due; the next is due an interval later. */
    isDue(): boolean {
      const nowMs = clock.monotonicMs();
      if (nowMs - reportedAtMs < intervalMs) return false;
      reportedAtMs = nowMs;
      return true;
    },
    /** Ends the condition: the next report is due at once. True when it had been reported. */
    reset(): boolean {
      const wasReported = reportedAtMs !== Number.NEGATIVE_INFINITY;
      reportedAtMs = Number.NEGATIVE_INFINITY;
      return wasReported;
    },
  };
}

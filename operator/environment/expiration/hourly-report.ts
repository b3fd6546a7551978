import type { Clock } from "../../kit/time/clock.ts";

/** Limits the reports of a lasting condition to one an hour. */
export interface HourlyReport {
  /** Whether a report is due; if so, it counts as made. */
  isDue(): boolean;
  /** The condition is over: the next report is due at once. Returns whether one was made. */
  reset(): boolean;
}

const HOUR_MS = 3_600_000;

export function createHourlyReport(clock: Clock): HourlyReport {
  let reportedAtMs: number | undefined;
  return {
    isDue() {
      const nowMs = clock.monotonicMs();
      if (reportedAtMs !== undefined && nowMs - reportedAtMs < HOUR_MS) return false;
      reportedAtMs = nowMs;
      return true;
    },
    reset() {
      const wasReported = reportedAtMs !== undefined;
      reportedAtMs = undefined;
      return wasReported;
    },
  };
}

import type { Clock } from "./clock.ts";

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

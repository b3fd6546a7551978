import type { Clock } from "./clock.ts";

const HOUR_MS = 3_600_000;

/** Bounds what is told about something that lasts: at once, and then once an hour. */
export interface Hourly {
  /** Whether it is to be told now; if so, the next time is an hour later. */
  isDue(): boolean;
  /** It is over: the next time is told at once. Answers whether it had been told. */
  reset(): boolean;
}

/** For something that has not been told yet. */
export function hourly(clock: Pick<Clock, "monotonicMs">): Hourly {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  return {
    isDue() {
      const nowMs = clock.monotonicMs();
      if (nowMs - toldAtMs < HOUR_MS) return false;
      toldAtMs = nowMs;
      return true;
    },
    reset() {
      const wasTold = toldAtMs !== Number.NEGATIVE_INFINITY;
      toldAtMs = Number.NEGATIVE_INFINITY;
      return wasTold;
    },
  };
}

import type { Clock } from "./clock.ts";

const HOUR_MS = 3_600_000;

/** Bounds what is told about something that lasts, and has not been told yet: at once, and then once an hour. */
export function hourly(clock: Pick<Clock, "monotonicMs">) {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  return {
    /** Whether it is to be told now; if so, the next time is an hour later. */
    isDue(): boolean {
      const nowMs = clock.monotonicMs();
      if (nowMs - toldAtMs < HOUR_MS) return false;
      toldAtMs = nowMs;
      return true;
    },
    /** It is over: the next time is told at once. Answers whether it had been told. */
    reset(): boolean {
      const wasTold = toldAtMs !== Number.NEGATIVE_INFINITY;
      toldAtMs = Number.NEGATIVE_INFINITY;
      return wasTold;
    },
  };
}

import { HOUR_MS } from "../../../crds/durations.ts";
import { type Clock, systemClock } from "../../../operator/kit/time/clock.ts";
import type { ServerClock } from "../../../operator/ports/cluster.ts";

/** A clock (default: the machine's) that is some hours ahead; durations and timers are unchanged. */
export function clockAhead(hours: number, clock: Clock = systemClock): Clock {
  return { ...clock, now: () => new Date(clock.now().getTime() + hours * HOUR_MS) };
}

export function serverClockAhead(hours: number): ServerClock {
  return { now: async () => new Date(Date.now() + hours * HOUR_MS) };
}

/** A machine's clock that a test corrects, forward or back; durations and timers are unchanged. */
export function correctedClock(): Clock & { correct(byMs: number): void } {
  let aheadMs = 0;
  return {
    ...systemClock,
    now: () => new Date(Date.now() + aheadMs),
    correct(byMs) {
      aheadMs += byMs;
    },
  };
}

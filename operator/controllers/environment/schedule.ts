import type { Clock } from "../../kit/time/clock.ts";

/** Repetition of expensive work per environment. In memory only: a restart may repeat it early. */
export interface Schedule {
  /**
   * Milliseconds until it is due. After a start the first ones are spread over a period.
   *
   * @param withinMs a shorter period
   */
  dueInMs(uid: string, withinMs?: number): number;
  taken(uid: string): void;
  /** Doubles the pause after a failure, up to a period. Returns it in milliseconds. */
  again(uid: string, firstMs: number): number;
  /** Resets the pause. */
  succeeded(uid: string): void;
  forget(uid: string): void;
}

/** The schedules of the steps whose work is expensive. */
export interface Schedules {
  readonly probes: Schedule;
  /** Reads of the namespace's Secrets. */
  readonly secretChecks: Schedule;
}

export function createSchedule(clock: Clock, periodMs: number): Schedule {
  const takenAt = new Map<string, number>();
  const pauses = new Map<string, number>();
  return {
    dueInMs(uid, withinMs = periodMs) {
      const now = clock.monotonicMs();
      const taken = takenAt.get(uid) ?? now - (1 - spread(uid)) * periodMs;
      takenAt.set(uid, taken);
      return Math.max(0, Math.ceil(taken + withinMs - now));
    },
    taken(uid) {
      takenAt.set(uid, clock.monotonicMs());
    },
    again(uid, firstMs) {
      const pauseMs = Math.min(pauses.get(uid) ?? firstMs, periodMs);
      pauses.set(uid, pauseMs * 2);
      takenAt.set(uid, clock.monotonicMs() + pauseMs - periodMs);
      return pauseMs;
    },
    succeeded(uid) {
      pauses.delete(uid);
    },
    forget(uid) {
      takenAt.delete(uid);
      pauses.delete(uid);
    },
  };
}

/** UIDs are random: the first 32 bits are even in [0, 1). */
function spread(uid: string): number {
  return Number.parseInt(uid.replaceAll("-", "").slice(0, 8), 16) / 2 ** 32;
}

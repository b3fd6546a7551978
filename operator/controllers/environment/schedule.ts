import type { Clock } from "../../kit/time/clock.ts";

/** When each environment repeats something that costs I/O. In memory only: a restart may repeat it early. */
export interface Schedule {
  /**
   * Milliseconds until it is due; 0 when it is. The first times after a start are spread over a period.
   *
   * @param withinMs a shorter period
   */
  dueInMs(uid: string, withinMs?: number): number;
  /** It was done: a period begins. */
  taken(uid: string): void;
  /** It failed: it is due after a pause that doubles each time, up to a period. Returns the pause in milliseconds. */
  again(uid: string, firstMs: number): number;
  /** It succeeded: the next pause is the first one again. */
  succeeded(uid: string): void;
  forget(uid: string): void;
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

/** UIDs are random: the first 32 bits place one evenly in [0, 1). */
function spread(uid: string): number {
  return Number.parseInt(uid.replaceAll("-", "").slice(0, 8), 16) / 2 ** 32;
}

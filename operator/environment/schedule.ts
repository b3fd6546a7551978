import type { Clock } from "../kit/time/clock.ts";

/**
 * When something that costs I/O is to be done again for each environment, such as asking its URLs. Kept in memory
 * only, because a restart may do it early.
 */
export interface Schedule {
  /**
   * Milliseconds until it is due; 0 when it is. First sight after a start is spread over a period.
   *
   * @param withinMs a shorter period, for what is in doubt
   */
  dueInMs(uid: string, withinMs?: number): number;
  /** It was done: a period begins. */
  taken(uid: string): void;
  /**
   * It was tried in vain: it is due after a pause, twice as long each time and never longer than a period. Answers the
   * pause, in milliseconds.
   */
  again(uid: string, firstMs: number): number;
  /** It went well: the next pause is the first one again. */
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

/** A UID is random: its first 32 bits place it evenly in [0, 1). */
function spread(uid: string): number {
  return Number.parseInt(uid.replaceAll("-", "").slice(0, 8), 16) / 2 ** 32;
}

import type { Clock } from "../kit/clock.ts";

/** When each environment's URLs are to be asked again; kept in memory only, because a restart may ask early. */
export interface ProbeSchedule {
  /** Milliseconds until the next probe is due; 0 when it is. First sight after a start is spread over a period. */
  dueInMs(uid: string): number;
  probed(uid: string): void;
  forget(uid: string): void;
}

export function createProbeSchedule(clock: Clock, periodMs: number): ProbeSchedule {
  const dueAt = new Map<string, number>();
  return {
    dueInMs(uid) {
      const due = dueAt.get(uid) ?? clock.monotonicMs() + spread(uid) * periodMs;
      dueAt.set(uid, due);
      return Math.max(0, Math.ceil(due - clock.monotonicMs()));
    },
    probed(uid) {
      dueAt.set(uid, clock.monotonicMs() + periodMs);
    },
    forget(uid) {
      dueAt.delete(uid);
    },
  };
}

/** A UID is random: its first 32 bits place it evenly in [0, 1). */
function spread(uid: string): number {
  return Number.parseInt(uid.replaceAll("-", "").slice(0, 8), 16) / 2 ** 32;
}

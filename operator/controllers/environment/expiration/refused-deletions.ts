import type { Clock } from "../../../kit/time/clock.ts";
import { createSchedule } from "../schedule.ts";

/** A refused deletion that waits for its retry. */
export interface RefusedDeletion {
  readonly message: string;
  readonly inMs: number;
}

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 600_000;

export type RefusedDeletions = ReturnType<typeof createRefusedDeletions>;

/** Expired environments with refused deletions, by UID. In memory only: a restart retries at once. */
export function createRefusedDeletions(clock: Clock) {
  const messages = new Map<string, string>();
  const retries = createSchedule(clock, LONGEST_PAUSE_MS);
  return {
    /** `undefined` when nothing was refused or the retry is due. */
    find(uid: string): RefusedDeletion | undefined {
      const message = messages.get(uid);
      if (message === undefined) return undefined;
      const inMs = retries.dueInMs(uid);
      return inMs > 0 ? { message, inMs } : undefined;
    },
    /** Records a refusal; the pause before the retry doubles each time. */
    add(uid: string, message: string): RefusedDeletion {
      messages.set(uid, message);
      return { message, inMs: retries.again(uid, FIRST_PAUSE_MS) };
    },
    forget(uid: string): void {
      messages.delete(uid);
      retries.forget(uid);
    },
  };
}

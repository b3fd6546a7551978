import type { Clock } from "../../kit/time/clock.ts";
import { createSchedule } from "../schedule.ts";

/** A refused deletion that waits for its retry. */
export interface RefusedDeletion {
  /** For users: what refuses it. */
  readonly message: string;
  /** Milliseconds until the retry. */
  readonly inMs: number;
}

/** The expired environments whose deletion was refused, by UID. In memory only: a restart retries at once. */
export interface RefusedDeletions {
  /** `undefined` when nothing was refused or the retry is due. */
  find(uid: string): RefusedDeletion | undefined;
  /** The pause before the retry doubles each time. */
  add(uid: string, message: string): RefusedDeletion;
  forget(uid: string): void;
}

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 600_000;

export function createRefusedDeletions(clock: Clock): RefusedDeletions {
  const messages = new Map<string, string>();
  const retries = createSchedule(clock, LONGEST_PAUSE_MS);
  return {
    find(uid) {
      const message = messages.get(uid);
      if (message === undefined) return undefined;
      const inMs = retries.dueInMs(uid);
      return inMs > 0 ? { message, inMs } : undefined;
    },
    add(uid, message) {
      messages.set(uid, message);
      return { message, inMs: retries.again(uid, FIRST_PAUSE_MS) };
    },
    forget(uid) {
      messages.delete(uid);
      retries.forget(uid);
    },
  };
}

import { backoffMs } from "../../kit/time/backoff.ts";
import type { Clock } from "../../kit/time/clock.ts";

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

const PAUSES_MS = { first: 5_000, longest: 600_000 };

export function createRefusedDeletions(clock: Clock): RefusedDeletions {
  const known = new Map<string, { readonly message: string; readonly refusals: number; readonly untilMs: number }>();
  return {
    find(uid) {
      const refused = known.get(uid);
      if (refused === undefined) return undefined;
      const inMs = refused.untilMs - clock.monotonicMs();
      return inMs > 0 ? { message: refused.message, inMs } : undefined;
    },
    add(uid, message) {
      const refusals = (known.get(uid)?.refusals ?? 0) + 1;
      const inMs = backoffMs(refusals, PAUSES_MS);
      known.set(uid, { message, refusals, untilMs: clock.monotonicMs() + inMs });
      return { message, inMs };
    },
    forget(uid) {
      known.delete(uid);
    },
  };
}

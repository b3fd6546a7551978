import { backoffMs } from "../../kit/time/backoff.ts";
import type { Clock } from "../../kit/time/clock.ts";

/** A deletion that was refused, until it is to be tried again. */
export interface Refusal {
  /** For people: what refuses it. */
  readonly message: string;
  /** Milliseconds until the next try. */
  readonly inMs: number;
}

/**
 * The expiries whose deletion was refused, by UID, and when each is tried again. Kept in memory only: after a restart it is
 * tried at once, and refused in the same words.
 */
export interface ExpiryRefusals {
  /** What is waited out now; `undefined` when nothing was refused or the next try is due. */
  find(uid: string): Refusal | undefined;
  /** It was refused: the pause before the next try is twice as long each time. */
  add(uid: string, message: string): Refusal;
  forget(uid: string): void;
}

const PAUSES_MS = { first: 5_000, longest: 600_000 };

export function createExpiryRefusals(clock: Clock): ExpiryRefusals {
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

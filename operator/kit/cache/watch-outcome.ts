import { isGone, KubeError } from "../client/errors.ts";
import type { WatchCut } from "./watch-session.ts";

/** The end of a watch. */
export interface WatchOutcome {
  /** Undefined when the server or this process closed it. */
  readonly error?: unknown;
  readonly cut?: WatchCut | undefined;
  readonly events: number;
  readonly ageMs: number;
  /** Moment on the clock's monotonic scale. */
  readonly endedAtMs: number;
}

/** Watch failures since the last list that matter for the next step. */
export interface WatchHistory {
  /** Start of the unbroken row of internal errors (HTTP 5xx); undefined when the last watch ended otherwise. */
  readonly internalErrorsSinceMs: number | undefined;
  readonly endedAtMs: number;
  /** Consecutive broken streams without an event. */
  readonly brokenInARow: number;
}

export const noHistory: WatchHistory = Object.freeze({
  internalErrorsSinceMs: undefined,
  endedAtMs: 0,
  brokenInARow: 0,
});

export function historyAfter(end: WatchOutcome, before: WatchHistory): WatchHistory {
  const { error, endedAtMs } = end;
  const isInternal = error instanceof KubeError && error.status >= 500;
  const isBroken = error instanceof KubeError && error.reason === "BrokenStream" && end.events === 0;
  return {
    internalErrorsSinceMs: isInternal ? (before.internalErrorsSinceMs ?? endedAtMs) : undefined,
    endedAtMs,
    brokenInARow: isBroken ? before.brokenInARow + 1 : 0,
  };
}

/** Reason for a new list. */
export type RelistReason = "start" | "expired" | "refused" | "internal" | "broken" | "unconfirmed" | "routine";

/** Next step after a watch. */
export interface NextMove {
  /** Present: list before the next watch. */
  readonly relist?: RelistReason;
  /** Present: wait at least this many seconds first. */
  readonly pauseSeconds?: number;
}

/** A shorter watch without an event is a failure, even when closed politely. */
const SHORTEST_HEALTHY_MS = 1_000;
const LONGEST_INTERNAL_ERRORS_MS = 60_000;
const MOST_BROKEN_IN_A_ROW = 5;

/** Decides like client-go's reflector: continues from the last version where possible, else lists again. */
export function afterWatch(end: WatchOutcome, history: WatchHistory): NextMove {
  if (end.cut === "unconfirmed") return { relist: "unconfirmed" };
  if (end.error === undefined) return isTooShort(end) ? { pauseSeconds: 0 } : {};
  if (!(end.error instanceof KubeError)) return { relist: "broken", pauseSeconds: 0 };
  const pauseSeconds = end.error.retryAfterSeconds ?? 0;
  const relist = relistAfter(end.error, history);
  if (relist !== undefined) return { relist, pauseSeconds };
  return end.error.status === 0 && !isTooShort(end) ? {} : { pauseSeconds };
}

function relistAfter(error: KubeError, history: WatchHistory): RelistReason | undefined {
  if (isGone(error)) return "expired";
  if (error.status === 0) return history.brokenInARow >= MOST_BROKEN_IN_A_ROW ? "broken" : undefined;
  if (error.status === 429) return undefined;
  if (error.status < 500) return "refused";
  const errorsForMs = history.endedAtMs - (history.internalErrorsSinceMs ?? history.endedAtMs);
  return errorsForMs > LONGEST_INTERNAL_ERRORS_MS ? "internal" : undefined;
}

function isTooShort({ events, ageMs }: WatchOutcome): boolean {
  return events === 0 && ageMs < SHORTEST_HEALTHY_MS;
}

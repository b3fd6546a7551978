import { isGone, KubeError } from "../client/errors.ts";
import type { WatchCut } from "./watch-session.ts";

/** How a watch came to its end. */
export interface WatchOutcome {
  /** Undefined: it was closed, by the server or by us. */
  readonly error?: unknown;
  readonly cut?: WatchCut | undefined;
  /** Events that it delivered, bookmarks too. */
  readonly events: number;
  readonly ageMs: number;
  /** On the clock's monotonic scale. */
  readonly endedAtMs: number;
}

/** What happened to watches since the last list, as far as it matters for what comes next. */
export interface WatchHistory {
  /** When the unbroken row of internal errors (HTTP 5xx) began; undefined when the last watch ended otherwise. */
  readonly internalErrorsSinceMs: number | undefined;
  readonly endedAtMs: number;
  /** Broken streams in a row without an event between them. */
  readonly brokenInARow: number;
}

/** No watch has ended since the last list. */
export const noHistory: WatchHistory = Object.freeze({
  internalErrorsSinceMs: undefined,
  endedAtMs: 0,
  brokenInARow: 0,
});

/** The history with one more watch. */
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

/** Why the collection is listed again. */
export type RelistReason = "start" | "expired" | "refused" | "internal" | "broken" | "unconfirmed" | "routine";

/** What to do after a watch has ended. */
export interface NextMove {
  /** Present: list before the next watch. */
  readonly relist?: RelistReason;
  /** Present: wait first, at least so many seconds. */
  readonly pauseSeconds?: number;
}

/** A watch that ended sooner, and without an event, says that something is wrong, however politely it was closed. */
const SHORTEST_HEALTHY_MS = 1_000;
const LONGEST_INTERNAL_ERRORS_MS = 60_000;
const MOST_BROKEN_IN_A_ROW = 5;

/** Decides, after client-go's reflector: go on from the last version where that can work, else list again. */
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

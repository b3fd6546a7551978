import { isGone, KubeError } from "./kube-errors.ts";
import type { WatchCut } from "./watch-session.ts";

/** How a watch came to its end. */
export interface WatchEnd {
  /** Undefined: it was closed, by the server or by us. */
  readonly error?: unknown;
  readonly cut?: WatchCut | undefined;
  /** Events that it delivered, bookmarks too. */
  readonly events: number;
  readonly ageMs: number;
}

/** What happened to watches so far, as far as it matters for what comes next. */
export interface WatchHistory {
  /** Milliseconds since the first internal error (HTTP 500) in a row; undefined when the last watch had none. */
  readonly internalErrorsForMs: number | undefined;
  /** Broken streams in a row without an event between them. */
  readonly brokenInARow: number;
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
export function afterWatch(end: WatchEnd, history: WatchHistory): NextMove {
  if (end.cut === "unconfirmed") return { relist: "unconfirmed" };
  if (end.error === undefined) return isTooShort(end) ? { pauseSeconds: 0 } : {};
  if (!(end.error instanceof KubeError)) return { relist: "broken", pauseSeconds: 0 };
  const pauseSeconds = end.error.retryAfterSeconds ?? 0;
  if (isGone(end.error)) return { relist: "expired", pauseSeconds };
  if (end.error.status === 429) return { pauseSeconds };
  if (end.error.status >= 500) {
    return (history.internalErrorsForMs ?? 0) > LONGEST_INTERNAL_ERRORS_MS
      ? { relist: "internal", pauseSeconds }
      : { pauseSeconds };
  }
  if (end.error.status >= 400) return { relist: "refused", pauseSeconds };
  if (history.brokenInARow >= MOST_BROKEN_IN_A_ROW) return { relist: "broken", pauseSeconds };
  return isTooShort(end) ? { pauseSeconds } : {};
}

function isTooShort({ events, ageMs }: WatchEnd): boolean {
  return events === 0 && ageMs < SHORTEST_HEALTHY_MS;
}

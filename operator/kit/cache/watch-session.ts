import { isGone, KubeError } from "../client/errors.ts";
import type { CancelTimer, Clock } from "../time/clock.ts";

/** Reason for ending a watch from this side. */
export type WatchCut = "overdue" | "unconfirmed" | "stopped";

/** The watch delivers own writes within milliseconds; after 10 s the event was missed or merged into a later list. */
const LONGEST_CONFIRMATION_MS = 10_000;
const LOOK_EVERY_MS = 5_000;

interface WatchSessionOptions {
  readonly clock: Clock;
  readonly deadlineMs: number;
  /** Wait of the oldest own write for its event. */
  readonly unconfirmedMs: () => number | undefined;
  readonly stop: AbortSignal;
}

/** Guards one watch: ends it when it is overdue, misses an own write, or must stop. */
export class WatchSession {
  readonly #options: WatchSessionOptions;
  readonly #controller = new AbortController();
  readonly #startedMs: number;
  readonly #onStop = () => this.#end("stopped");
  #cancel: CancelTimer = () => undefined;
  #cut: WatchCut | undefined;

  constructor(options: WatchSessionOptions) {
    this.#options = options;
    this.#startedMs = options.clock.monotonicMs();
    options.stop.addEventListener("abort", this.#onStop, { once: true });
    if (options.stop.aborted) this.#onStop();
    else this.#lookLater();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Undefined while the watch runs, and when it ended by itself. */
  get cut(): WatchCut | undefined {
    return this.#cut;
  }

  get ageMs(): number {
    return this.#options.clock.monotonicMs() - this.#startedMs;
  }

  release(): void {
    this.#cancel();
    this.#options.stop.removeEventListener("abort", this.#onStop);
  }

  #lookLater(): void {
    this.#cancel = this.#options.clock.setTimer(LOOK_EVERY_MS, () => {
      const reason = this.#reasonToEnd();
      if (reason === undefined) this.#lookLater();
      else this.#end(reason);
    });
  }

  #reasonToEnd(): WatchCut | undefined {
    if (this.ageMs >= this.#options.deadlineMs) return "overdue";
    return (this.#options.unconfirmedMs() ?? 0) > LONGEST_CONFIRMATION_MS ? "unconfirmed" : undefined;
  }

  #end(reason: WatchCut): void {
    this.#cut ??= reason;
    this.#controller.abort();
  }
}

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
interface WatchHistory {
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

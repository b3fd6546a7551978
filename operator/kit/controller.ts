import type { Clock } from "./clock.ts";
import type { Log } from "./log.ts";
import type { Priority, WorkQueueOptions } from "./work-queue.ts";

/** What a pass leaves to do: nothing, or another look after a while. */
export interface ReconcileResult {
  readonly recheckAfterMs?: number;
}

/** One pass over one key. Throwing means: again, with backoff. Passes of one key never overlap. */
// biome-ignore lint/suspicious/noConfusingVoidType: a pass that leaves nothing to do simply returns
export type Reconcile = (key: string, context: { readonly signal: AbortSignal }) => Promise<ReconcileResult | void>;

export type PassOutcome = "done" | "recheck" | "failed" | "timeout";

/** Where a controller counts; an adapter turns it into metrics. */
export interface ControllerMetrics {
  queueDepth(controller: string, depth: number): void;
  passed(controller: string, outcome: PassOutcome, durationMs: number): void;
}

export interface Controller {
  /** Wants a pass over the key; before `start` it waits. Priority is `high` unless said. */
  enqueue(key: string, priority?: Priority): void;
  enqueueAfter(key: string, delayMs: number): void;
  start(): void;
  /** Takes no new key, lets passes finish for `graceMs`, then aborts them; resolves when all have ended. */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
  readonly depth: number;
  readonly inWork: number;
}

export interface ControllerOptions {
  readonly name: string;
  readonly reconcile: Reconcile;
  /** Passes at a time (default 8). */
  readonly workers?: number;
  /** After so long a pass is aborted and retried (default 60 s). */
  readonly deadlineMs?: number;
  /** Enqueues all `keys()` at low priority every `everyMs` (default 10 h) ± 10 %. */
  readonly resync?: { readonly keys: () => Iterable<string>; readonly everyMs?: number };
  readonly queue?: Omit<WorkQueueOptions, "clock" | "random" | "onDepth">;
  readonly log: Log;
  readonly metrics?: ControllerMetrics;
  readonly clock?: Clock;
  readonly random?: () => number;
}

export declare function createController(options: ControllerOptions): Controller;

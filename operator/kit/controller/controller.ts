import type { BackoffBounds } from "../time/backoff.ts";

/** Result of a reconcile: done, or requeued after a while. */
export interface ReconcileResult {
  readonly requeueAfterMs?: number;
}

/** Context of a reconcile. */
export interface ReconcileContext {
  /** Aborts when the reconcile must stop. */
  readonly signal: AbortSignal;
  /** Queues the key after that time with urgent priority, independent of the result and of other waits. */
  requeueUrgently(afterMs: number): void;
}

/** Reconciles one key. Throwing requeues the key with backoff. Two reconciles of one key never overlap. */
// biome-ignore lint/suspicious/noConfusingVoidType: a reconcile that leaves nothing to do simply returns
export type Reconcile = (key: string, context: ReconcileContext) => Promise<ReconcileResult | void>;

/** Queues a key; the priority is `high` unless said. */
export type Enqueue = (key: string, priority?: Priority) => void;

/** Subscribes to changes and enqueues their keys; returns the unsubscribe function. */
export type Watch = (enqueue: Enqueue) => () => void;

/** One function that ends all subscriptions. */
export function endOf(ends: readonly (() => void)[]): () => void {
  return () => {
    for (const end of ends) end();
  };
}

/** A controller as a value; the manager runs it. */
export interface Controller {
  readonly name: string;
  readonly reconcile: Reconcile;
  /** Replaces the key in logs and spans (default: the key): a key may name a person. */
  readonly loggedKey?: (key: string) => string;
  /** The `traceparent` that caused a reconcile of the key, where known and not yet consumed. */
  readonly causeOf?: (key: string) => string | undefined;
  readonly watches: readonly Watch[];
  /** Keys queued at the start, at low priority and in this order. */
  readonly initialKeys: () => readonly string[];
  /** Concurrent reconciles; one that lasts longer than a second frees its slot. */
  readonly workers: number;
  /** A reconcile that lasts longer is aborted and requeued (default 60 s). */
  readonly deadlineMs?: number;
  /** First and longest backoff of a failing key (default: the manager's). */
  readonly backoffMs?: BackoffBounds | undefined;
}

/**
 * `urgent` is for short reconciles due at a certain moment, `high` for changes and waiting users, `low` for start-up,
 * requeues, retries and deletions. First in, first out within a priority. `urgent` comes first, then `high`, but every
 * fifth key is a waiting `low` one: neither starves.
 */
export type Priority = (typeof PRIORITIES)[number];

/** Highest first. */
export const PRIORITIES = ["urgent", "high", "low"] as const;

/** Outcome of a reconcile. `panic`: an error that the language throws for a bug, as Go's panics are. */
export type ReconcileOutcome = "done" | "requeued" | "failed" | "panic" | "timeout";

/** Metrics of controllers. Called at every reconcile, so it must cost next to nothing. */
export interface ControllerMetrics {
  of(controller: { readonly name: string; readonly workers: number }, pool: PoolState): PoolMetrics;
}

/** Current load of a pool. */
export interface PoolState {
  /** Waiting keys, without those due later. */
  readonly depth: number;
  depthOf(priority: Priority): number;
  readonly inWork: number;
  /** Milliseconds that running reconciles have lasted: in total, and the longest. */
  workingMs(): { readonly sum: number; readonly longest: number };
}

/** Metrics of a pool. */
export interface PoolMetrics extends QueueMetrics {
  reconciled(outcome: ReconcileOutcome, durationMs: number): void;
}

/** Metrics of a work queue. */
export interface QueueMetrics {
  /** A key was queued that did not wait. */
  added(): void;
  /** A key left the queue for a worker. */
  taken(waitedMs: number): void;
  retried(): void;
}

import type { Priority } from "./priority.ts";
import type { RetryDelayOptions } from "./retry-delays.ts";

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
  readonly backoffMs?: RetryDelayOptions["backoffMs"];
}

import type { Priority } from "./priority.ts";
import type { RetryDelayOptions } from "./retry-delays.ts";

/** What a reconcile leaves to do: nothing, or another reconcile after a while. */
export interface ReconcileResult {
  readonly requeueAfterMs?: number;
}

/** What a reconcile is given besides its key. */
export interface ReconcileContext {
  /** Aborts when the reconcile may do no more. */
  readonly signal: AbortSignal;
  /**
   * Queues the key after that time with urgent priority, whatever this reconcile returns or throws and whatever else the
   * key waits for.
   */
  requeueUrgently(afterMs: number): void;
}

/** Reconciles one key. Throwing requeues the key with backoff. Two reconciles of one key never overlap. */
// biome-ignore lint/suspicious/noConfusingVoidType: a reconcile that leaves nothing to do simply returns
export type Reconcile = (key: string, context: ReconcileContext) => Promise<ReconcileResult | void>;

/** Queues a key; the priority is `high` unless said. */
export type Enqueue = (key: string, priority?: Priority) => void;

/** Subscribes to what changes and queues the keys that it concerns; returns the end of the subscription. */
export type Watch = (enqueue: Enqueue) => () => void;

/** One end for all these subscriptions. */
export function endOf(ends: readonly (() => void)[]): () => void {
  return () => {
    for (const end of ends) end();
  };
}

/** A controller as a value; the manager runs it. */
export interface Controller {
  /** As metrics and log lines name it. */
  readonly name: string;
  readonly reconcile: Reconcile;
  /** What log lines and spans have in the place of a key (default: the key): a key may name a person. */
  readonly loggedKey?: (key: string) => string;
  /** The `traceparent` of what caused a reconcile of the key, where that is known and has not been dealt with. */
  readonly causeOf?: (key: string) => string | undefined;
  readonly watches: readonly Watch[];
  /** What is queued at the start, at low priority and in this order. */
  readonly initialKeys: () => readonly string[];
  /** Reconciles at a time; one that lasts for more than a second leaves its place to another. */
  readonly workers: number;
  /** A reconcile that lasts longer is aborted and requeued (default 60 s). */
  readonly deadlineMs?: number;
  /** The first and the longest backoff of a key that fails (default: the manager's). */
  readonly backoffMs?: RetryDelayOptions["backoffMs"];
}

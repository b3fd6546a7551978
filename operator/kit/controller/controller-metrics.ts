import type { Priority } from "./priority.ts";

/** How a reconcile ended. `panic`: by an error that the language throws at a bug, as Go's panics are. */
export type ReconcileOutcome = "done" | "requeued" | "failed" | "panic" | "timeout";

/** Where controllers count. It is called at every reconcile, and must cost next to nothing. */
export interface ControllerMetrics {
  /** The place of one controller, for its pool. */
  of(controller: { readonly name: string; readonly workers: number }, pool: PoolState): PoolMetrics;
}

/** What waits and works in a pool, at any moment. */
export interface PoolState {
  /** Keys that wait now, without those due later. */
  readonly depth: number;
  depthOf(priority: Priority): number;
  /** Keys that are being reconciled. */
  readonly inWork: number;
  /** Milliseconds for which the reconciles in work have lasted: all of them together, and the longest. */
  workingMs(): { readonly sum: number; readonly longest: number };
}

/** Where a pool counts. */
export interface PoolMetrics extends QueueMetrics {
  reconciled(outcome: ReconcileOutcome, durationMs: number): void;
}

/** Where a work queue counts. */
export interface QueueMetrics {
  /** A key was queued that did not wait already. */
  added(): void;
  /** A key left the queue for a worker. */
  taken(waitedMs: number): void;
  /** A failed key will be queued again. */
  retried(): void;
}

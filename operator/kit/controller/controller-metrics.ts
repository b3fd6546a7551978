import type { Priority } from "./priority.ts";

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

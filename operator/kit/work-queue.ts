import type { Clock } from "./clock.ts";

/** `high` is what a user waits for; `low` is resyncs and start-up. Among equals, first come first served. */
export type Priority = "high" | "low";

/**
 * Keys that want work: each at most once in the queue and at most once in work.
 *
 * A key added while in work is queued again when its work is done.
 */
export interface WorkQueue {
  add(key: string, priority?: Priority): void;
  /** Adds the key later; of several due times the earliest wins. Any delay is honoured, also months. */
  addAfter(key: string, delayMs: number, priority?: Priority): void;
  /** Adds the key after its backoff, which grows with every call until `forget`; answers the delay in milliseconds. */
  retry(key: string): number;
  /** Ends the key's backoff. */
  forget(key: string): void;
  /** How often the key has been retried since it was last forgotten. */
  failures(key: string): number;
  /** The next key, now in work until `done`; undefined once the queue is closed. */
  take(): Promise<string | undefined>;
  done(key: string): void;
  /** Keys waiting now, without those due later. */
  readonly depth: number;
  /** Keys in work. */
  readonly inWork: number;
  /** Drops what waits and accepts nothing more; keys in work may still be `done`. */
  close(): void;
  /** Resolves when no key is in work. */
  whenIdle(): Promise<void>;
}

export interface WorkQueueOptions {
  readonly clock?: Clock;
  readonly random?: () => number;
  /** First and longest backoff of a key (defaults 0.5 s and 5 min). */
  readonly backoffMs?: { readonly first: number; readonly longest: number };
  /** Retries of all keys together: a bucket of `burst` that refills `perSecond` (defaults 100 and 10). */
  readonly retryRate?: { readonly perSecond: number; readonly burst: number };
  /** Told the depth after every change. */
  readonly onDepth?: (depth: number) => void;
}

export declare function createWorkQueue(options?: WorkQueueOptions): WorkQueue;

import { type CancelTimer, type Clock, MAX_TIMER_MS, systemClock } from "../time/clock.ts";
import type { QueueMetrics } from "./controller-metrics.ts";
import { PRIORITIES, type Priority } from "./priority.ts";
import { type RetryDelayOptions, RetryDelays } from "./retry-delays.ts";

export interface WorkQueueOptions extends RetryDelayOptions {
  readonly clock?: Clock;
  readonly metrics?: QueueMetrics | undefined;
}

/** An empty queue. */
export function createWorkQueue(options: WorkQueueOptions = {}): WorkQueue {
  return new WorkQueue(options);
}

interface Delayed {
  readonly dueMs: number;
  readonly cancel: CancelTimer;
}

/** So many `high` keys in a row may come before a waiting `low` one. */
const HIGH_IN_A_ROW = 4;

/** Whether the one priority is at least as high as the other. */
const covers = (one: Priority, other: Priority) => PRIORITIES.indexOf(one) <= PRIORITIES.indexOf(other);

/**
 * Keys that want work: each at most once in the queue and at most once in work.
 *
 * A key added while in work is queued again when its work is done.
 */
// Three sets as in client-go: waiting (here by priority), in work, and dirty: added again while in work.
export class WorkQueue {
  /** By priority, and since when. */
  readonly #waiting: Readonly<Record<Priority, Map<string, number>>> = {
    urgent: new Map(),
    high: new Map(),
    low: new Map(),
  };
  /** And since when. */
  readonly #working = new Map<string, number>();
  readonly #dirty = new Map<string, Priority>();
  /** By priority, so that a key that waits at low priority can be due at an urgent moment, too. */
  readonly #delayed: Readonly<Record<Priority, Map<string, Delayed>>> = {
    urgent: new Map(),
    high: new Map(),
    low: new Map(),
  };
  readonly #takers: ((key: string | undefined) => void)[] = [];
  readonly #clock: Clock;
  readonly #delays: RetryDelays;
  readonly #metrics: QueueMetrics | undefined;
  /** How many `high` keys came before a waiting `low` one. */
  #highInARow = 0;
  #closed = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#delays = new RetryDelays(this.#clock, options);
    this.#metrics = options.metrics;
  }

  add(key: string, priority: Priority = "high"): void {
    if (this.#closed) return;
    const known = this.#working.has(key) ? this.#dirty.get(key) : this.#priorityOf(key);
    if (known !== undefined && covers(known, priority)) return;
    if (this.#working.has(key)) {
      this.#dirty.set(key, priority);
      return;
    }
    const addedMs = known === undefined ? undefined : this.#waiting[known].get(key);
    if (known !== undefined) this.#waiting[known].delete(key);
    this.#waiting[priority].set(key, addedMs ?? this.#clock.monotonicMs());
    if (known === undefined) this.#metrics?.added();
    this.#handOut();
  }

  /**
   * Adds the key later, at low priority unless said; of several due times at one priority the earliest wins. Any delay
   * is honoured, also months.
   */
  addAfter(key: string, delayMs: number, priority: Priority = "low"): void {
    if (this.#closed) return;
    const dueMs = this.#clock.monotonicMs() + Math.max(0, delayMs);
    const known = this.#delayed[priority].get(key);
    if (known !== undefined && known.dueMs <= dueMs) return;
    known?.cancel();
    this.#arm(key, dueMs, priority);
  }

  /**
   * Adds the key, at low priority, after its backoff, which grows with every call until `forget`, and not before
   * `atLeastMs`; answers the delay in milliseconds.
   */
  retry(key: string, atLeastMs = 0): number {
    this.#metrics?.retried();
    const delayMs = Math.max(this.#delays.next(key), atLeastMs);
    this.addAfter(key, delayMs);
    return delayMs;
  }

  /** Ends the key's backoff. */
  forget(key: string): void {
    this.#delays.forget(key);
  }

  /** How often the key has been retried since it was last forgotten. */
  failures(key: string): number {
    return this.#delays.failures(key);
  }

  /** The next key, now in work until `done`; undefined once the queue is closed. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#takers.push(resolve);
      this.#handOut();
    });
  }

  done(key: string): void {
    this.#working.delete(key);
    const priority = this.#dirty.get(key);
    this.#dirty.delete(key);
    if (priority !== undefined) this.add(key, priority);
  }

  /** Keys waiting now, without those due later. */
  get depth(): number {
    return PRIORITIES.reduce((sum, priority) => sum + this.depthOf(priority), 0);
  }

  /** Those of one priority. */
  depthOf(priority: Priority): number {
    return this.#waiting[priority].size;
  }

  /** Keys in work. */
  get inWork(): number {
    return this.#working.size;
  }

  /** Milliseconds for which the keys in work have been there: all of them together, and the longest. */
  workingMs(): { readonly sum: number; readonly longest: number } {
    const nowMs = this.#clock.monotonicMs();
    const ages = [...this.#working.values()].map((sinceMs) => nowMs - sinceMs);
    return { sum: ages.reduce((sum, ageMs) => sum + ageMs, 0), longest: Math.max(0, ...ages) };
  }

  /** Drops what waits and accepts nothing more; keys in work may still be `done`. */
  close(): void {
    this.#closed = true;
    for (const priority of PRIORITIES) {
      for (const { cancel } of this.#delayed[priority].values()) cancel();
      this.#delayed[priority].clear();
      this.#waiting[priority].clear();
    }
    this.#dirty.clear();
    for (const resolve of this.#takers.splice(0)) resolve(undefined);
  }

  #handOut(): void {
    while (this.#takers.length > 0) {
      const [key, addedMs] = this.#next() ?? [];
      if (key === undefined || addedMs === undefined) return;
      for (const priority of PRIORITIES) this.#waiting[priority].delete(key);
      const nowMs = this.#clock.monotonicMs();
      this.#working.set(key, nowMs);
      this.#metrics?.taken(nowMs - addedMs);
      this.#takers.shift()?.(key);
    }
  }

  #priorityOf(key: string): Priority | undefined {
    return PRIORITIES.find((priority) => this.#waiting[priority].has(key));
  }

  #next(): readonly [key: string, addedMs: number] | undefined {
    const [urgent] = this.#waiting.urgent;
    if (urgent !== undefined) return urgent;
    const [high] = this.#waiting.high;
    const [low] = this.#waiting.low;
    const isLowNext = high === undefined || this.#highInARow >= HIGH_IN_A_ROW;
    if (low === undefined || isLowNext) this.#highInARow = 0;
    else this.#highInARow += 1;
    return isLowNext ? (low ?? high) : high;
  }

  /** One timer a key and priority; a wait beyond what a timer can do is made of several. */
  #arm(key: string, dueMs: number, priority: Priority): void {
    const leftMs = Math.max(0, dueMs - this.#clock.monotonicMs());
    const cancel = this.#clock.setTimer(Math.min(leftMs, MAX_TIMER_MS), () => {
      this.#delayed[priority].delete(key);
      if (this.#clock.monotonicMs() < dueMs) this.#arm(key, dueMs, priority);
      else this.add(key, priority);
    });
    this.#delayed[priority].set(key, { dueMs, cancel });
  }
}

import { type CancelTimer, type Clock, MAX_TIMER_MS, systemClock } from "./clock.ts";
import { type RetryDelayOptions, RetryDelays } from "./retry-delays.ts";

/**
 * `high` is what a user, a change or a promised moment waits for; `low` is start-up, rechecks and retries. Among equals, first come first
 * served; among unequals `high` comes first, except that every fifth turn is a waiting `low` key's: neither starves.
 */
export type Priority = "high" | "low";

/**
 * Keys that want work: each at most once in the queue and at most once in work.
 *
 * A key added while in work is queued again when its work is done.
 */
export interface WorkQueue {
  add(key: string, priority?: Priority): void;
  /** Adds the key later, at low priority unless said; of several due times the earliest wins. Any delay is honoured, also months. */
  addAfter(key: string, delayMs: number, priority?: Priority): void;
  /**
   * Adds the key, at low priority, after its backoff, which grows with every call until `forget`, and not before
   * `atLeastMs`; answers the delay in milliseconds.
   */
  retry(key: string, atLeastMs?: number): number;
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
}

export interface WorkQueueOptions extends RetryDelayOptions {
  readonly clock?: Clock;
  /** Told the depth after every change. */
  readonly onDepth?: (depth: number) => void;
}

/** An empty queue. */
export function createWorkQueue(options: WorkQueueOptions = {}): WorkQueue {
  return new KeyedQueue(options);
}

interface Delayed {
  readonly dueMs: number;
  readonly cancel: CancelTimer;
}

/** A waiting `low` key is passed over at most so many times in a row. */
const HIGH_IN_A_ROW = 4;

/** Three sets as in client-go: waiting (here by priority), in work, and dirty: added again while in work. */
class KeyedQueue implements WorkQueue {
  readonly #waiting: Readonly<Record<Priority, Set<string>>> = { high: new Set(), low: new Set() };
  readonly #working = new Set<string>();
  readonly #dirty = new Map<string, Priority>();
  readonly #delayed = new Map<string, Delayed>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  readonly #clock: Clock;
  readonly #delays: RetryDelays;
  readonly #onDepth: (depth: number) => void;
  /** Turns that `high` keys had while a `low` one waited. */
  #lowPassedOver = 0;
  #closed = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#delays = new RetryDelays(this.#clock, options);
    this.#onDepth = options.onDepth ?? (() => undefined);
  }

  add(key: string, priority: Priority = "high"): void {
    if (this.#closed) return;
    if (this.#working.has(key)) {
      if (priority === "high" || !this.#dirty.has(key)) this.#dirty.set(key, priority);
      return;
    }
    if (this.#waiting.high.has(key)) return;
    if (priority === "high") this.#waiting.low.delete(key);
    this.#waiting[priority].add(key);
    this.#handOut();
    this.#onDepth(this.depth);
  }

  addAfter(key: string, delayMs: number, priority: Priority = "low"): void {
    if (this.#closed) return;
    const dueMs = this.#clock.monotonicMs() + Math.max(0, delayMs);
    const known = this.#delayed.get(key);
    if (known !== undefined && known.dueMs <= dueMs) return;
    known?.cancel();
    this.#arm(key, dueMs, priority);
  }

  retry(key: string, atLeastMs = 0): number {
    const delayMs = Math.max(this.#delays.next(key), atLeastMs);
    this.addAfter(key, delayMs);
    return delayMs;
  }

  forget(key: string): void {
    this.#delays.forget(key);
  }

  failures(key: string): number {
    return this.#delays.failures(key);
  }

  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#takers.push(resolve);
      this.#handOut();
      this.#onDepth(this.depth);
    });
  }

  done(key: string): void {
    this.#working.delete(key);
    const priority = this.#dirty.get(key);
    this.#dirty.delete(key);
    if (priority !== undefined) this.add(key, priority);
  }

  get depth(): number {
    return this.#waiting.high.size + this.#waiting.low.size;
  }

  get inWork(): number {
    return this.#working.size;
  }

  close(): void {
    this.#closed = true;
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#dirty.clear();
    this.#waiting.high.clear();
    this.#waiting.low.clear();
    for (const resolve of this.#takers.splice(0)) resolve(undefined);
    this.#onDepth(0);
  }

  #handOut(): void {
    while (this.#takers.length > 0) {
      const key = this.#next();
      if (key === undefined) return;
      this.#waiting.high.delete(key);
      this.#waiting.low.delete(key);
      this.#working.add(key);
      this.#takers.shift()?.(key);
    }
  }

  #next(): string | undefined {
    const [high] = this.#waiting.high;
    const [low] = this.#waiting.low;
    const isLowsTurn = high === undefined || this.#lowPassedOver >= HIGH_IN_A_ROW;
    if (low === undefined || isLowsTurn) this.#lowPassedOver = 0;
    else this.#lowPassedOver += 1;
    return isLowsTurn ? (low ?? high) : high;
  }

  /** One timer a key; a wait beyond what a timer can do is made of several. */
  #arm(key: string, dueMs: number, priority: Priority): void {
    const leftMs = Math.max(0, dueMs - this.#clock.monotonicMs());
    const cancel = this.#clock.setTimer(Math.min(leftMs, MAX_TIMER_MS), () => {
      this.#delayed.delete(key);
      if (this.#clock.monotonicMs() < dueMs) this.#arm(key, dueMs, priority);
      else this.add(key, priority);
    });
    this.#delayed.set(key, { dueMs, cancel });
  }
}

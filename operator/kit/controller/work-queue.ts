import { AsyncLocalStorage } from "node:async_hooks";
import { type BackoffBounds, backoffMs } from "../time/backoff.ts";
import { type CancelTimer, type Clock, MAX_TIMER_MS, systemClock } from "../time/clock.ts";
import { type TokenBucket, tokenBucket } from "../time/rate-limits.ts";
import { PRIORITIES, type Priority, type QueueMetrics } from "./controller.ts";

interface WorkQueueOptions {
  readonly clock?: Clock;
  readonly metrics?: QueueMetrics | undefined;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
  /** First and longest backoff of a key (default 0.5 s and 5 min). */
  readonly backoffMs?: BackoffBounds | undefined;
}

interface Delayed {
  readonly dueMs: number;
  readonly cancel: CancelTimer;
}

/** Consecutive `high` keys that may precede a waiting `low` one. */
const HIGH_IN_A_ROW = 4;

function byPriority<V>(): Readonly<Record<Priority, Map<string, V>>> {
  return { urgent: new Map(), high: new Map(), low: new Map() };
}

const covers = (one: Priority, other: Priority) => PRIORITIES.indexOf(one) <= PRIORITIES.indexOf(other);

/** Keys to reconcile, each at most once in the queue and once in work; one added while in work is queued later. */
// Three sets as in client-go: waiting (here by priority), in work, and dirty (added while in work).
export class WorkQueue {
  /** Start of each key's wait, by priority. */
  readonly #waiting = byPriority<number>();
  /** Start of each key's work. */
  readonly #working = new Map<string, number>();
  readonly #dirty = new Map<string, Priority>();
  /** Delayed keys by priority: a key that waits at low priority may also be due at an urgent moment. */
  readonly #delayed = byPriority<Delayed>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  readonly #clock: Clock;
  readonly #delays: RetryDelays;
  readonly #metrics: QueueMetrics | undefined;
  /** Calls a function in the async context of the queue's creation. */
  readonly #outsideWork = AsyncLocalStorage.snapshot();
  #highInARow = 0;
  #closed = false;

  constructor(options: WorkQueueOptions = {}) {
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

  /** Adds the key later, at low priority by default; per priority the earliest due time wins. Delays of months work. */
  addAfter(key: string, delayMs: number, priority: Priority = "low"): void {
    if (this.#closed) return;
    const dueMs = this.#clock.monotonicMs() + Math.max(0, delayMs);
    const known = this.#delayed[priority].get(key);
    if (known !== undefined && known.dueMs <= dueMs) return;
    known?.cancel();
    this.#arm(key, dueMs, priority);
  }

  /** Adds the key at low priority after its backoff, at least `atLeastMs`; answers the delay in milliseconds. */
  retry(key: string, atLeastMs = 0): number {
    this.#metrics?.retried();
    const delayMs = Math.max(this.#delays.next(key), atLeastMs);
    this.addAfter(key, delayMs);
    return delayMs;
  }

  forget(key: string): void {
    this.#delays.forget(key);
  }

  /** Retries of the key since it was last forgotten. */
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

  /** Waiting keys, without those due later. */
  get depth(): number {
    return PRIORITIES.reduce((sum, priority) => sum + this.depthOf(priority), 0);
  }

  depthOf(priority: Priority): number {
    return this.#waiting[priority].size;
  }

  get inWork(): number {
    return this.#working.size;
  }

  /** Milliseconds that the keys in work have been there: in total, and the longest. */
  workingMs(): { readonly sum: number; readonly longest: number } {
    const nowMs = this.#clock.monotonicMs();
    const ages = [...this.#working.values()].map((sinceMs) => nowMs - sinceMs);
    return { sum: ages.reduce((sum, ageMs) => sum + ageMs, 0), longest: Math.max(0, ...ages) };
  }

  /** Drops waiting keys and accepts no more; keys in work may still be `done`. */
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

  /** One timer per key and priority; long waits chain several. */
  #arm(key: string, dueMs: number, priority: Priority): void {
    const leftMs = Math.max(0, dueMs - this.#clock.monotonicMs());
    const fire = () => {
      this.#delayed[priority].delete(key);
      if (this.#clock.monotonicMs() < dueMs) this.#arm(key, dueMs, priority);
      else this.add(key, priority);
    };
    // A timer would keep the log facts and the span of the reconcile that requested it: a tenth of an environment's memory.
    const cancel = this.#outsideWork(() => this.#clock.setTimer(Math.min(leftMs, MAX_TIMER_MS), fire));
    this.#delayed[priority].set(key, { dueMs, cancel });
  }
}

/** Rate of all keys' retries together, and the seconds of it that may come at once. */
const RETRIES_PER_SECOND = 10;
const RETRY_BURST_SECONDS = 10;

/**
 * Delay of each key before its next retry: its backoff or the common bucket's delay, whichever is longer, at most the
 * longest backoff. So an excess of keys comes faster than the bucket's rate.
 */
class RetryDelays {
  readonly #failures = new Map<string, number>();
  readonly #random: () => number;
  readonly #backoff: BackoffBounds;
  readonly #bucket: TokenBucket;

  constructor(clock: Clock, { random = Math.random, backoffMs: backoff }: WorkQueueOptions) {
    this.#random = random;
    this.#backoff = backoff ?? { first: 500, longest: 300_000 };
    this.#bucket = tokenBucket(clock, RETRIES_PER_SECOND, RETRY_BURST_SECONDS);
  }

  /** Counts a failure of the key and answers its delay in milliseconds. */
  next(key: string): number {
    const failures = this.failures(key) + 1;
    this.#failures.set(key, failures);
    const fullMs = backoffMs(failures, this.#backoff);
    // Up to a tenth shorter, to spread keys that failed together.
    const ownMs = fullMs * (1 - 0.1 * this.#random());
    // A key with the longest backoff takes no token: keys that always fail would leave none.
    return fullMs === this.#backoff.longest ? ownMs : Math.max(ownMs, this.#commonDelayMs());
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }

  /**
   * Delay by the token bucket. Beyond the longest backoff a key takes no token and gets a random delay up to it: such
   * keys come evenly, and an outage has no long after-effects.
   */
  #commonDelayMs(): number {
    const { longest } = this.#backoff;
    return this.#bucket.reserve(longest) ?? longest * (1 - this.#random());
  }
}

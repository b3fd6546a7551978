import type { IncrementResponse, Store } from "express-rate-limit";
import type { Clock } from "../../operator/kit/time/clock.ts";
import type { Counter, SharedCounters } from "../../operator/ports/api/shared-counters.ts";
import { type MemoryStore, memoryStore } from "./memory-store.ts";

/** Dependencies of the counters. */
export interface CounterParts {
  readonly clock: Clock;
  /** Counters of all replicas; without them, each replica counts for itself. */
  readonly counters?: SharedCounters | undefined;
}

/**
 * Counts in the shared store, or alone during its outage. The process's own counters are always kept too, so that an
 * outage gives no caller a fresh limit.
 */
export class FallbackStore implements Store {
  readonly counter: Counter;
  readonly prefix: string;
  readonly #memory: MemoryStore;
  readonly #shared: SharedCounters | undefined;

  constructor(counter: Counter, { clock, counters }: CounterParts) {
    this.counter = counter;
    this.prefix = counter.name;
    this.#memory = memoryStore(clock, counter);
    this.#shared = counters;
  }

  async increment(key: string): Promise<IncrementResponse> {
    const own = this.#memory.increment(key);
    const shared = await this.#shared?.increment(this.counter, key).catch(() => undefined);
    if (shared !== undefined) return { totalHits: shared.total, resetTime: shared.endsAt };
    // The library subtracts the machine's time from it.
    return { totalHits: own.total, resetTime: new Date(Date.now() + own.leftMs) };
  }

  /** Requests of a key in its window, by this process. */
  total(key: string): number {
    return this.#memory.total(key);
  }

  /** Required by the library, for requests counted by their outcome; here none is. */
  decrement(): void {}

  resetKey(): void {}
}

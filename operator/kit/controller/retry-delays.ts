import { type BackoffBounds, backoffMs } from "../time/backoff.ts";
import type { Clock } from "../time/clock.ts";

/** Retry rates of failed keys. */
export interface RetryDelayOptions {
  readonly random?: () => number;
  /** First and longest backoff of a key (defaults 0.5 s and 5 min). */
  readonly backoffMs?: BackoffBounds | undefined;
  /**
   * Rate of all keys' retries: a bucket of `burst` that refills `perSecond` (defaults 100 and 10). No delay exceeds the
   * longest backoff, so an excess of keys comes faster.
   */
  readonly retryRate?: { readonly perSecond: number; readonly burst: number };
}

/**
 * Delay of each key before its next retry: its backoff or the common bucket's delay, whichever is longer, at most the
 * longest backoff.
 */
export class RetryDelays {
  readonly #failures = new Map<string, number>();
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #backoff: BackoffBounds;
  readonly #rate: { readonly perSecond: number; readonly burst: number };
  #tokens: number;
  #countedAtMs: number;

  constructor(clock: Clock, options: RetryDelayOptions) {
    this.#clock = clock;
    this.#random = options.random ?? Math.random;
    this.#backoff = options.backoffMs ?? { first: 500, longest: 300_000 };
    this.#rate = options.retryRate ?? { perSecond: 10, burst: 100 };
    this.#tokens = this.#rate.burst;
    this.#countedAtMs = clock.monotonicMs();
  }

  /** Counts a failure of the key and answers its delay in milliseconds. */
  next(key: string): number {
    const failures = this.failures(key) + 1;
    this.#failures.set(key, failures);
    const fullMs = backoffMs(failures, this.#backoff);
    const ownMs = this.#shortened(fullMs);
    // A key with the longest backoff takes no token: keys that always fail would leave none.
    return fullMs === this.#backoff.longest ? ownMs : Math.max(ownMs, this.#commonDelayMs());
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Up to a tenth shorter, to spread keys that failed together. */
  #shortened(delayMs: number): number {
    return delayMs * (1 - 0.1 * this.#random());
  }

  /**
   * The bucket may go into debt: a retry waits for its token. Beyond the longest backoff a key takes none and gets a
   * random delay up to it: such keys come evenly, and an outage has no long after-effects.
   */
  #commonDelayMs(): number {
    this.#refill();
    const { longest } = this.#backoff;
    const delayMs = ((1 - this.#tokens) / this.#rate.perSecond) * 1000;
    if (delayMs > longest) return longest * (1 - this.#random());
    this.#tokens -= 1;
    return Math.max(0, delayMs);
  }

  #refill(): void {
    const nowMs = this.#clock.monotonicMs();
    const refilled = ((nowMs - this.#countedAtMs) / 1000) * this.#rate.perSecond;
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + refilled);
    this.#countedAtMs = nowMs;
  }
}

import type { Clock } from "./clock.ts";

export interface RetryDelayOptions {
  readonly random?: () => number;
  /** First and longest backoff of a key (defaults 0.5 s and 5 min). */
  readonly backoffMs?: { readonly first: number; readonly longest: number };
  /** Retries of all keys together: a bucket of `burst` that refills `perSecond` (defaults 100 and 10). */
  readonly retryRate?: { readonly perSecond: number; readonly burst: number };
}

/** How long each key waits before its next try: its own backoff, or the common bucket's, whichever is longer. */
export class RetryDelays {
  readonly #failures = new Map<string, number>();
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #backoffMs: { readonly first: number; readonly longest: number };
  readonly #rate: { readonly perSecond: number; readonly burst: number };
  #tokens: number;
  #countedAtMs: number;

  constructor(clock: Clock, options: RetryDelayOptions) {
    this.#clock = clock;
    this.#random = options.random ?? Math.random;
    this.#backoffMs = options.backoffMs ?? { first: 500, longest: 300_000 };
    this.#rate = options.retryRate ?? { perSecond: 10, burst: 100 };
    this.#tokens = this.#rate.burst;
    this.#countedAtMs = clock.monotonicMs();
  }

  /** Counts one more failure of the key and answers its delay in milliseconds. */
  next(key: string): number {
    const failures = this.failures(key);
    this.#failures.set(key, failures + 1);
    return Math.max(this.#ownDelayMs(failures), this.#commonDelayMs());
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Up to a tenth shorter, so that keys that failed together do not return together. */
  #ownDelayMs(failures: number): number {
    const { first, longest } = this.#backoffMs;
    return Math.min(longest, first * 2 ** Math.min(failures, 40)) * (1 - 0.1 * this.#random());
  }

  /** The bucket may go into debt: every retry is granted, at the time when its token will be there. */
  #commonDelayMs(): number {
    const nowMs = this.#clock.monotonicMs();
    const refilled = ((nowMs - this.#countedAtMs) / 1000) * this.#rate.perSecond;
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + refilled) - 1;
    this.#countedAtMs = nowMs;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#rate.perSecond) * 1000;
  }
}

import type { Clock } from "./clock.ts";

/** Shortest and longest pause, in milliseconds. */
export interface BackoffBounds {
  readonly first: number;
  readonly longest: number;
}

/** Pause after consecutive failures, in milliseconds: `first`, doubled per failure, up to `longest`. */
export function backoffMs(failures: number, { first, longest }: BackoffBounds): number {
  return Math.min(longest, first * 2 ** Math.min(failures - 1, 40));
}

/** Everything recovers within half a minute after the other side's return. */
const BOUNDS = { first: 800, longest: 6_000 };
const HEALTHY_AFTER_MS = 120_000;

/** Growing pauses between attempts: 0.8 s doubling to 6 s, each × 1 to 2; reset after 2 min without one. */
export class Backoff {
  readonly #clock: Clock;
  readonly #random: () => number;
  #failures = 0;
  #resumedAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** The next pause in milliseconds, at least the server's `Retry-After`. */
  next(retryAfterSeconds = 0): number {
    if (this.#clock.monotonicMs() - this.#resumedAtMs > HEALTHY_AFTER_MS) this.#failures = 0;
    this.#failures += 1;
    const ownMs = backoffMs(this.#failures, BOUNDS) * (1 + this.#random());
    const delayMs = Math.max(ownMs, retryAfterSeconds * 1000 * (1 + 0.1 * this.#random()));
    this.#resumedAtMs = this.#clock.monotonicMs() + delayMs;
    return delayMs;
  }
}

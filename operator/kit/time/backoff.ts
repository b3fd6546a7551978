import type { Clock } from "./clock.ts";

/** The shortest and the longest pause of a backoff, in milliseconds. */
export interface BackoffBounds {
  readonly first: number;
  readonly longest: number;
}

/** The pause after so many failures in a row, in milliseconds: the first, doubled with every further failure, up to the longest. */
export function backoffMs(failures: number, { first, longest }: BackoffBounds): number {
  return Math.min(longest, first * 2 ** Math.min(failures - 1, 40));
}

/** However long the other side was away: half a minute after its return all is well again. */
const BOUNDS = { first: 800, longest: 6_000 };
const HEALTHY_AFTER_MS = 120_000;

/** Growing pauses between tries of one thing: 0.8 s doubling to 6 s, each × 1 to 2; back to the first after 2 min without. */
export class Backoff {
  readonly #clock: Clock;
  readonly #random: () => number;
  #failures = 0;
  #resumedAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** The next pause in milliseconds, and at least what the server asked for. */
  next(retryAfterSeconds = 0): number {
    if (this.#clock.monotonicMs() - this.#resumedAtMs > HEALTHY_AFTER_MS) this.#failures = 0;
    this.#failures += 1;
    const ownMs = backoffMs(this.#failures, BOUNDS) * (1 + this.#random());
    const delayMs = Math.max(ownMs, retryAfterSeconds * 1000 * (1 + 0.1 * this.#random()));
    this.#resumedAtMs = this.#clock.monotonicMs() + delayMs;
    return delayMs;
  }
}

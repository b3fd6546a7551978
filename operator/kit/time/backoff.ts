import type { Clock } from "./clock.ts";

const FIRST_MS = 800;
/** However long the other side was away: half a minute after its return all is to be well again. */
const LONGEST_MS = 6_000;
const HEALTHY_AFTER_MS = 120_000;

/** Growing pauses between tries of one thing: 0.8 s doubling to 6 s, each × 1 to 2; back to the first after 2 min without. */
export class Backoff {
  readonly #clock: Clock;
  readonly #random: () => number;
  #nextMs = FIRST_MS;
  #resumedAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** The next pause in milliseconds, and at least what the server asked for. */
  next(retryAfterSeconds = 0): number {
    if (this.#clock.monotonicMs() - this.#resumedAtMs > HEALTHY_AFTER_MS) this.#nextMs = FIRST_MS;
    const ownMs = this.#nextMs * (1 + this.#random());
    this.#nextMs = Math.min(LONGEST_MS, this.#nextMs * 2);
    const delayMs = Math.max(ownMs, retryAfterSeconds * 1000 * (1 + 0.1 * this.#random()));
    this.#resumedAtMs = this.#clock.monotonicMs() + delayMs;
    return delayMs;
  }
}

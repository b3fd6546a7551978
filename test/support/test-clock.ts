import type { CancelTimer, Clock } from "../../operator/kit/clock.ts";

interface Timer {
  readonly dueMs: number;
  readonly delayMs: number;
  readonly fire: () => void;
}

/** A clock that stands still until a test moves it. */
export class TestClock implements Clock {
  readonly #timers = new Set<Timer>();
  #startedAt: number;
  #elapsedMs = 0;

  constructor(startedAt: string = "2026-01-01T00:00:00.000Z") {
    this.#startedAt = Date.parse(startedAt);
  }

  now(): Date {
    return new Date(this.#startedAt + this.#elapsedMs);
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  setTimer(delayMs: number, fire: () => void): CancelTimer {
    const timer = { dueMs: this.#elapsedMs + delayMs, delayMs, fire };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** The delays that were asked for and have not fired, in milliseconds, shortest first. */
  get pending(): readonly number[] {
    return [...this.#timers].map(({ delayMs }) => delayMs).sort((one, other) => one - other);
  }

  /** Moves time and fires what falls due, in order; what a timer sets in motion asynchronously is not awaited. */
  advance(byMs: number): void {
    const untilMs = this.#elapsedMs + byMs;
    for (let next = this.#nextDue(untilMs); next !== undefined; next = this.#nextDue(untilMs)) {
      this.#timers.delete(next);
      this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs);
      next.fire();
    }
    this.#elapsedMs = untilMs;
  }

  /** Corrects the wall clock; durations and timers know nothing of it. */
  setBack(byMs: number): void {
    this.#startedAt -= byMs;
  }

  /** Moves time to the earliest timer and fires it; false when there is none. */
  advanceToNext(): boolean {
    const next = this.#nextDue(Number.POSITIVE_INFINITY);
    if (next === undefined) return false;
    this.advance(Math.max(0, next.dueMs - this.#elapsedMs));
    return true;
  }

  #nextDue(untilMs: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs <= untilMs && (next === undefined || timer.dueMs < next.dueMs)) next = timer;
    }
    return next;
  }
}

import { yieldIfDue } from "../kit/time/yield-if-due.ts";

/** A few tenths of a millisecond. */
const UNITS_BETWEEN_TURNS = 16_384;

/** More work than a call may make. */
export class TooMuchWork extends Error {
  override readonly name = "TooMuchWork";
}

/** What one call may cost in steps of its own kind, whatever the machine and its load, and when others have their turn. */
export class Work {
  #left: number;
  #untilTurn = UNITS_BETWEEN_TURNS;

  constructor(units: number) {
    this.#left = units;
  }

  /** @throws TooMuchWork when no so much is left */
  spend(units: number): void {
    this.#left -= units;
    this.#untilTurn -= units;
    if (this.#left < 0) throw new TooMuchWork();
  }

  /** To be awaited between pieces of work. */
  yieldIfDue(): Promise<void> | undefined {
    if (this.#untilTurn > 0) return undefined;
    this.#untilTurn = UNITS_BETWEEN_TURNS;
    return yieldIfDue();
  }
}

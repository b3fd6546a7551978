import { yieldIfDue } from "../../kit/time/yield-if-due.ts";

/** A few tenths of a millisecond. */
const UNITS_BETWEEN_TURNS = 16_384;

/** The work exceeds a call's budget. */
export class TooMuchWork extends Error {
  override readonly name = "TooMuchWork";
}

/** Machine-independent budget of one call, in its own steps, and its yields to other work. */
export class Work {
  #left: number;
  #untilTurn = UNITS_BETWEEN_TURNS;

  constructor(units: number) {
    this.#left = units;
  }

  /** @throws TooMuchWork beyond the budget */
  spend(units: number): void {
    this.#left -= units;
    this.#untilTurn -= units;
    if (this.#left < 0) throw new TooMuchWork();
  }

  yieldIfDue(): Promise<void> | undefined {
    if (this.#untilTurn > 0) return undefined;
    this.#untilTurn = UNITS_BETWEEN_TURNS;
    return yieldIfDue();
  }
}

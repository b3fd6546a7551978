import { inspect } from "node:util";

const MASK = "***";

/** A secret value; its text and JSON forms are `***`, and only `reveal` returns it. */
export class Sensitive {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** Returns the value; only for where it is written to its destination. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}

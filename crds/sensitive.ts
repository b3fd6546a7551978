import { inspect } from "node:util";

const MASK = "***";

/** A secret value that can travel, be logged and be serialised by mistake without being shown; only `reveal` gives it. */
export class Sensitive {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself: call it where the value is written to its destination, and nowhere else. */
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

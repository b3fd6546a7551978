/** A stretch of a text, end exclusive. */
export type Span = readonly [start: number, end: number];

/** Merges stretches found from the beginning to the end of a text: never more than its length. */
export class TextStretches {
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  /** @param end not before that of the previous stretch */
  add(start: number, end: number): void {
    let from = start;
    while (this.#lastEnd >= start) {
      from = Math.min(from, this.#starts.pop() as number);
      this.#ends.pop();
    }
    this.#starts.push(from);
    this.#ends.push(end);
  }

  /** True when the last stretch contains this one. */
  covers(start: number, end: number): boolean {
    return this.#lastEnd >= end && (this.#starts.at(-1) ?? start + 1) <= start;
  }

  get spans(): readonly Span[] {
    return this.#starts.map((start, index) => [start, this.#ends[index] as number]);
  }

  get #lastEnd(): number {
    return this.#ends[this.#ends.length - 1] ?? -1;
  }
}

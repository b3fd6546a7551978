/** Where something stands in a text: from the first character to the one after the last. */
export type Span = readonly [start: number, end: number];

/** Parts of a text that were found from its beginning to its end, merged as they come: never more than the text is long. */
export class TextStretches {
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  /** @param end not before the end of what was added before */
  add(start: number, end: number): void {
    let from = start;
    while (this.#lastEnd >= start) {
      from = Math.min(from, this.#starts.pop() as number);
      this.#ends.pop();
    }
    this.#starts.push(from);
    this.#ends.push(end);
  }

  /** Whether all of this lies in one of them, the last. */
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

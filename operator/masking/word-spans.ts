import { firstStart, LONGEST_FORM, LONGEST_READING, type Reading, readingAt } from "./character-forms.ts";
import type { WordSearch, Work } from "./word-search.ts";

/** The words that are looked for in a text. */
export interface Sought {
  /** Words in any form of their characters: plain, JSON, a URL or a form. */
  readonly plain: WordSearch;
  /** Words in lower case; found in either. */
  readonly hex: WordSearch;
  /** Words in the alphabet with `+` and `/`; found in either alphabet. */
  readonly base64: WordSearch;
}

/**
 * Finds the places of words in a text. Costs a few units a character, and more where the text can be read in several ways that all
 * begin a word. @throws TooMuchWork
 */
export async function wordSpans(
  text: string,
  { plain, hex, base64 }: Sought,
  work: Work,
): Promise<readonly TextSpan[]> {
  const scan = { text, found: new TextStretches(), work };
  const written = new WrittenScan(scan, plain);
  const encoded = [new ExactScan(scan, hex, LOWER_HEX), new ExactScan(scan, base64, ONE_BASE64)];
  for (let at = 0; at <= text.length; at += 1) {
    written.pass(at);
    for (const one of encoded) one.pass(at);
    const turn = work.yieldIfDue();
    if (turn !== undefined) await turn;
  }
  return scan.found.spans;
}

interface Scan {
  readonly text: string;
  readonly found: TextStretches;
  readonly work: Work;
}

/** Equivalent units. */
const LOWER_HEX: ReadonlyMap<number, number> = unitsFor("ABCDEF", "abcdef");
const ONE_BASE64: ReadonlyMap<number, number> = unitsFor("-_", "+/");

function unitsFor(written: string, meant: string): ReadonlyMap<number, number> {
  return new Map(Array.from(written, (character, index) => [character.charCodeAt(0), meant.charCodeAt(index)]));
}

class ExactScan {
  readonly #scan: Scan;
  readonly #search: WordSearch;
  readonly #meant: ReadonlyMap<number, number>;
  #node = 0;

  constructor(scan: Scan, search: WordSearch, meant: ReadonlyMap<number, number>) {
    this.#scan = scan;
    this.#search = search;
    this.#meant = meant;
  }

  /** Reads the character before a place. */
  pass(at: number): void {
    if (at === 0) return;
    const { text, found, work } = this.#scan;
    const before = this.#search.work;
    const unit = text.charCodeAt(at - 1);
    this.#node = this.#search.step(this.#node, this.#meant.get(unit) ?? unit);
    const ending = this.#search.ending(this.#node);
    if (ending !== 0) found.add(at - this.#search.depth(ending), at);
    work.spend(this.#search.work - before);
  }
}

interface Thread {
  node: number;
  /** The number of the last characters that are surely read as they are written. */
  asWritten: number;
  /** No open word began earlier. */
  since: number;
}

/** Ring of places: this one, and all possible ends of a reading that begins here. */
const RING = LONGEST_READING + 1;

class WrittenScan {
  readonly #scan: Scan;
  readonly #search: WordSearch;
  readonly #arriving: Thread[][] = Array.from({ length: RING }, () => []);

  constructor(scan: Scan, search: WordSearch) {
    this.#scan = scan;
    this.#search = search;
    this.#arriving[0]?.push({ node: 0, asWritten: 0, since: 0 });
  }

  /** Takes readings that end at a place, and continues from there. */
  pass(at: number): void {
    const { text, work } = this.#scan;
    const before = this.#search.work;
    const threads = this.#arriving[at % RING] as Thread[];
    if (threads.length > 1) this.#merge(threads);
    for (const thread of threads) this.#mark(thread, at);
    if (at < text.length) this.#readOn(threads, at);
    threads.length = 0;
    work.spend(this.#search.work - before);
  }

  #readOn(threads: readonly Thread[], at: number): void {
    const { text } = this.#scan;
    const reading = readingAt(text, at);
    if (reading !== undefined) for (const thread of threads) this.#readAs(thread, reading, at);
    const unit = text.charCodeAt(at);
    const next = this.#arriving[(at + 1) % RING] as Thread[];
    for (const thread of threads) {
      if (thread.node === 0) thread.since = at;
      thread.node = this.#search.step(thread.node, unit);
      thread.asWritten += 1;
      next.push(thread);
    }
  }

  #readAs({ node: from, since }: Thread, { meant, length }: Reading, at: number): void {
    let node = from;
    for (let index = 0; index < meant.length; index += 1) node = this.#search.step(node, meant.charCodeAt(index));
    this.#arriving[(at + length) % RING]?.push({ node, asWritten: 0, since: from === 0 ? at : since });
  }

  /** Keeps readings that are no suffix of another, which finds the same. */
  #merge(threads: Thread[]): void {
    const search = this.#search;
    this.#scan.work.spend(threads.length ** 2);
    threads.sort((one, other) => search.depth(other.node) - search.depth(one.node));
    const kept: Thread[] = [];
    for (const thread of threads) {
      const longer = kept.find(({ node }) => search.endsWith(node, thread.node));
      if (longer === undefined) kept.push(thread);
      else if (thread.asWritten < search.depth(thread.node)) {
        longer.asWritten = Math.min(longer.asWritten, thread.asWritten);
        longer.since = Math.min(longer.since, thread.since);
      }
    }
    threads.splice(0, threads.length, ...kept);
  }

  /** Marks words that end at a place, longest first; skips those within another. */
  #mark({ node, asWritten, since }: Thread, end: number): void {
    const { text, found, work } = this.#scan;
    const search = this.#search;
    for (let ending = search.ending(node); ending !== 0; ending = search.shorter(ending)) {
      const length = search.depth(ending);
      if (length <= asWritten) {
        found.add(end - length, end);
        return;
      }
      const earliest = Math.max(since, end - LONGEST_FORM * length);
      if (found.covers(earliest, end - length)) {
        found.add(earliest, end);
        return;
      }
      found.add(firstStart(text, search.word(ending), end, work), end);
    }
  }
}

/** The place of something in a text: from the first character to the one after the last. */
export type TextSpan = readonly [start: number, end: number];

/** Parts of a text that were found from its beginning to its end, merged as they come: never more than the text is long. */
class TextStretches {
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

  /** True where all of this lies in one of them, the last. */
  covers(start: number, end: number): boolean {
    return this.#lastEnd >= end && (this.#starts.at(-1) ?? start + 1) <= start;
  }

  get spans(): readonly TextSpan[] {
    return this.#starts.map((start, index) => [start, this.#ends[index] as number]);
  }

  get #lastEnd(): number {
    return this.#ends[this.#ends.length - 1] ?? -1;
  }
}

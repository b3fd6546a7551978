import { hash } from "node:crypto";
import pLimit from "p-limit";
import { secretPieces } from "./secret-pieces.ts";
import { TooMuchWork, WordSearch, Work, type YieldIfDue } from "./word-search.ts";
import { type Sought, type TextSpan, wordSpans } from "./word-spans.ts";

const MASK = "***";
/**
 * The most characters of values that are masked: more than eighty variables as long as they may be. A search takes two
 * hundred bytes a character of a value, and twice as many where there are blanks around it.
 */
export const MOST_VALUE_CHARACTERS = 336 * 1024;
/** Values of so few characters are prepared by each mask for itself: a hundred readers may hold such a search at once. */
const SMALL_CHARACTERS = 2 * 1024;
/** A plain text takes a dozen steps a character; more are for a text that can be read in several ways. */
const WORK_PER_CHARACTER = 64;
/** Steps that any short text may take. */
const WORK_AT_LEAST = 1_000_000;

/** Masks (redacts) a text, such as logs: `***` stands for every occurrence of some values. @throws TooMuchToMask */
export type Mask = (text: string) => Promise<string>;

/** A text that exceeds the masking budget. It must not be shown; the message replaces it. */
export class TooMuchToMask extends Error {
  override readonly name = "TooMuchToMask";

  constructor(why: "values" | "text") {
    const whys = {
      values: `the Secrets that its pods see have more than ${MOST_VALUE_CHARACTERS} characters`,
      text: "it and the values of Secrets that its pods see can be read in too many ways",
    };
    super(`what was written is not shown, because its secrets can't be masked: ${whys[why]}`);
  }
}

/**
 * Makes masks for the texts of one kind of reader. The search for large values is cached by their content, so that all
 * masks of the same values share it, and only while a mask of them is held. The least recently used is evicted when there
 * is no room for another.
 *
 * A process has one memory. So large values are searched for in one text after the other, in the order of the calls, and
 * readers who must not wait for each other have an instance each. No call is refused because others wait: the caller
 * bounds how many do. Small values are cached by each mask, and wait for no other.
 */
export class SecretMasks {
  readonly #yieldIfDue: YieldIfDue;
  readonly #mostCached: number;
  readonly #inTurn = pLimit(1);
  /** Entries by content, least recently used first. */
  readonly #cache = new Map<string, WeakRef<CacheEntry>>();
  #prepared = 0;

  /**
   * @param yieldIfDue gives others their turns between pieces of work
   * @param mostCached characters of large values that are prepared at once; those of a single mask may be more
   */
  constructor(yieldIfDue: YieldIfDue, mostCached = MOST_VALUE_CHARACTERS) {
    this.#yieldIfDue = yieldIfDue;
    this.#mostCached = mostCached;
  }

  /** The number of times that large values were prepared so far, for tests and benchmarks. */
  get prepared(): number {
    return this.#prepared;
  }

  /**
   * Makes a mask of these values. It finds a value as it is, without the blanks around it, with any of its characters
   * escaped as in JSON, a URL or a form, in hexadecimal, and in base64 wherever it begins; of a value of several lines, each
   * line by itself too; of a long one, each piece. Control characters and colours are taken out, as `printable` does. It takes time and memory in proportion
   * to the text and the values; others have their turns meanwhile.
   */
  of(values: Iterable<string>): Mask {
    const given = new Set(values);
    const known = new Set([...given].flatMap((value) => [value, value.trim()]).filter((value) => value !== ""));
    if (known.size === 0) return async (text) => printable(text);
    const characters = [...given].reduce((sum, value) => sum + value.length, 0);
    if (characters > MOST_VALUE_CHARACTERS) return () => Promise.reject(new TooMuchToMask("values"));
    return characters > SMALL_CHARACTERS ? this.#large(known, characters) : this.#small(known);
  }

  #large(values: ReadonlySet<string>, characters: number): Mask {
    let entry: CacheEntry | undefined;
    return (text) =>
      this.#inTurn(async () => {
        entry ??= this.#entry(digest(values), characters);
        this.#use(entry);
        entry.sought ??= await this.#prepare(values);
        return withoutSecrets(text, entry.sought, this.#yieldIfDue);
      });
  }

  #small(values: ReadonlySet<string>): Mask {
    let sought: Promise<Sought> | undefined;
    return async (text) => {
      sought ??= prepared(values, this.#yieldIfDue);
      return withoutSecrets(text, await sought, this.#yieldIfDue);
    };
  }

  #entry(key: string, characters: number): CacheEntry {
    return this.#cache.get(key)?.deref() ?? { key, characters };
  }

  #prepare(values: ReadonlySet<string>): Promise<Sought> {
    this.#prepared += 1;
    return prepared(values, this.#yieldIfDue);
  }

  /** Makes it the most recently used, and evicts the excess. */
  #use(entry: CacheEntry): void {
    this.#cache.delete(entry.key);
    let left = this.#mostCached - entry.characters;
    for (const [key, held] of [...this.#cache].reverse()) {
      const other = held.deref();
      if (other === undefined) this.#cache.delete(key);
      if (other?.sought === undefined) continue;
      left -= other.characters;
      if (left < 0) other.sought = undefined;
    }
    this.#cache.set(entry.key, new WeakRef(entry));
  }
}

/** The search that masks of the same values share. Only they hold it: it goes with the last of them. */
interface CacheEntry {
  readonly key: string;
  readonly characters: number;
  /** Undefined before its first use and after its eviction. */
  sought?: Sought | undefined;
}

/** The same for the same values in any order. A key that is not the values themselves. */
const digest = (values: ReadonlySet<string>) => hash("sha256", JSON.stringify([...values].sort()), "base64");

async function prepared(values: ReadonlySet<string>, yieldIfDue: YieldIfDue): Promise<Sought> {
  const { plain, hex, base64 } = await secretPieces(values, yieldIfDue);
  return {
    plain: await WordSearch.of(plain, yieldIfDue),
    hex: await WordSearch.of(hex, yieldIfDue),
    base64: await WordSearch.of(base64, yieldIfDue),
  };
}

async function withoutSecrets(text: string, sought: Sought, yieldIfDue: YieldIfDue): Promise<string> {
  const work = new Work(WORK_AT_LEAST + WORK_PER_CHARACTER * text.length, yieldIfDue);
  try {
    return await withoutValues(printable(await withoutValues(text, sought, work)), sought, work);
  } catch (error) {
    throw error instanceof TooMuchWork ? new TooMuchToMask("text") : error;
  }
}

async function withoutValues(text: string, sought: Sought, work: Work): Promise<string> {
  return covered(text, await wordSpans(text, sought, work), work);
}

/** The text with one mask per stretch and line: line ends stay. */
async function covered(text: string, stretches: readonly TextSpan[], work: Work): Promise<string> {
  let shown = "";
  let upTo = 0;
  for (const [start, end] of stretches) {
    shown += text.slice(upTo, start) + text.slice(start, end).replace(/[^\n]+/g, MASK);
    work.spend(end - upTo);
    upTo = end;
    await work.yieldIfDue();
  }
  return shown + text.slice(upTo);
}

/** An escape character and its sequence: a colour, a move of the cursor, or the title of a window. */
const SEQUENCES = /[^\P{Cc}\s]\[[0-9;?]*[ -/]*[@-~]|[^\P{Cc}\s]\][^\p{Cc}]*[^\P{Cc}\s]\\?/gu;

/** Text without control characters and colours, so that none can split a value or move the cursor; line ends stay. */
export function printable(text: string): string {
  return text
    .replace(SEQUENCES, "")
    .replace(/\r\n?/g, "\n")
    .replace(/\t/g, " ")
    .replace(/[^\P{C}\n]/gu, "");
}

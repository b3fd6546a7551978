import { hash } from "node:crypto";
import pLimit from "p-limit";
import { secretPieces } from "./secret-pieces.ts";
import type { Span } from "./text-stretches.ts";
import { WordSearch } from "./word-search.ts";
import { type Sought, wordSpans } from "./word-spans.ts";
import { TooMuchWork, Work } from "./work-budget.ts";

const MASK = "***";
/**
 * More than eighty variables of maximal length. A search takes two hundred bytes per character of a value, and twice as
 * many with blanks around it.
 */
export const MOST_VALUE_CHARACTERS = 336 * 1024;
/** Values that each of a hundred readers may keep prepared. */
const SMALL_CHARACTERS = 2 * 1024;
/** Plain text takes a dozen steps per character; ambiguous text more. */
const WORK_PER_CHARACTER = 64;
const WORK_AT_LEAST = 1_000_000;

/** Masks every occurrence of some values. @throws TooMuchToMask */
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
 * Masks for one kind of reader. Searches of large values are cached by content, shared by masks of the same values, and
 * live only with one. The least recently used is evicted.
 *
 * To bound memory, texts with large values are searched one by one; independent readers have an instance each. The
 * caller bounds waiting calls. Small values are cached by each mask, and never wait.
 */
export class SecretMasks {
  readonly #mostCached: number;
  readonly #inTurn = pLimit(1);
  /** Entries by content, least recently used first. */
  readonly #cache = new Map<string, WeakRef<CacheEntry>>();
  #prepared = 0;

  /** @param mostCached limit on prepared characters of large values; a single mask may exceed it */
  constructor(mostCached = MOST_VALUE_CHARACTERS) {
    this.#mostCached = mostCached;
  }

  /** Count of preparations of large values, for measurements. */
  get prepared(): number {
    return this.#prepared;
  }

  /**
   * Mask for every occurrence of a value: plain, without surrounding blanks, in JSON, in a URL, in hexadecimal, in
   * base64 at any offset; also each line of a value with several lines, and each piece of a long one. Removes control
   * characters and colours like `printable`. Time and memory are proportional to text and values; yields to other work.
   */
  of(values: Iterable<string>): Mask {
    const given = new Set(values);
    const known = new Set([...given].flatMap((value) => [value, value.trim()]).filter((value) => value !== ""));
    if (known.size === 0) return async (text) => printable(text);
    const characters = [...given].reduce((sum, value) => sum + value.length, 0);
    if (characters > MOST_VALUE_CHARACTERS) return () => Promise.reject(new TooMuchToMask("values"));
    return characters > SMALL_CHARACTERS ? this.#large(known, characters) : small(known);
  }

  #large(values: ReadonlySet<string>, characters: number): Mask {
    let entry: CacheEntry | undefined;
    return (text) =>
      this.#inTurn(async () => {
        entry ??= this.#entry(digest(values), characters);
        this.#use(entry);
        entry.sought ??= await this.#prepare(values);
        return withoutSecrets(text, entry.sought);
      });
  }

  #entry(key: string, characters: number): CacheEntry {
    return this.#cache.get(key)?.deref() ?? { key, characters };
  }

  #prepare(values: ReadonlySet<string>): Promise<Sought> {
    this.#prepared += 1;
    return prepared(values);
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

/** Shared by masks of the same values, which alone hold it. */
interface CacheEntry {
  readonly key: string;
  readonly characters: number;
  /** Undefined before its first use and after its eviction. */
  sought?: Sought | undefined;
}

function small(values: ReadonlySet<string>): Mask {
  let sought: Promise<Sought> | undefined;
  return async (text) => {
    sought ??= prepared(values);
    return withoutSecrets(text, await sought);
  };
}

/** Equal for the same values in any order, without revealing them. */
const digest = (values: ReadonlySet<string>) => hash("sha256", JSON.stringify([...values].sort()), "base64");

async function prepared(values: ReadonlySet<string>): Promise<Sought> {
  const { plain, hex, base64 } = await secretPieces(values);
  return {
    plain: await WordSearch.of(plain),
    hex: await WordSearch.of(hex),
    base64: await WordSearch.of(base64),
  };
}

async function withoutSecrets(text: string, sought: Sought): Promise<string> {
  const work = new Work(WORK_AT_LEAST + WORK_PER_CHARACTER * text.length);
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
async function covered(text: string, stretches: readonly Span[], work: Work): Promise<string> {
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

/** Escape sequences: colours, cursor moves and window titles. */
const SEQUENCES = /[^\P{Cc}\s]\[[0-9;?]*[ -/]*[@-~]|[^\P{Cc}\s]\][^\p{Cc}]*[^\P{Cc}\s]\\?/gu;

/** Text without control characters and colours, so that none can split a value or move the cursor; line ends stay. */
export function printable(text: string): string {
  return text
    .replace(SEQUENCES, "")
    .replace(/\r\n?/g, "\n")
    .replace(/\t/g, " ")
    .replace(/[^\P{C}\n]/gu, "");
}

import { createHash } from "node:crypto";
import { turnstile } from "../kit/turnstile.ts";
import { WordSearch } from "../kit/word-search.ts";
import { TooMuchWork, Work } from "../kit/work.ts";
import { secretPieces } from "./secret-pieces.ts";
import type { Span } from "./text-stretches.ts";
import { type Sought, wordSpans } from "./word-spans.ts";

const MASK = "***";
/**
 * More than eighty variables as long as they may be. What is looked for takes two hundred bytes a character of a value, and
 * twice as many where there are blanks around it.
 */
export const MOST_VALUE_CHARACTERS = 336 * 1024;
/** So much each of a hundred readers may keep ready for as long as he reads. */
const SMALL_CHARACTERS = 2 * 1024;
/** What is written plainly takes a dozen; more is for what can be read in several ways. */
const WORK_PER_CHARACTER = 64;
/** Any short text may cost so much. */
const WORK_AT_LEAST = 1_000_000;

/** The text with every occurrence of some values masked. @throws TooMuchToMask */
export type Mask = (text: string) => Promise<string>;

/** A text that can't be masked within what that may cost. It must not be shown; the message says so instead of it. */
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
 * Masks for the texts of one kind of reader. What many values are looked for with is prepared once for all masks of the
 * same values, and kept while one of them is in use: the least recently used goes when there is no room for another.
 *
 * A process has one memory. So large values are looked for in one text after the other, the first to come the first to go,
 * and those who must not wait for each other have an instance each. Nobody is refused for others: the caller bounds how
 * many wait. What is small never waits.
 */
export class SecretMasks {
  readonly #mostKept: number;
  readonly #inLine = turnstile(1);
  /** Of large values, by what they are; the least recently used first. */
  readonly #rooms = new Map<string, WeakRef<Room>>();
  #prepared = 0;

  /** @param mostKept characters of large values that are kept prepared at once; a single mask may have more */
  constructor(mostKept = MOST_VALUE_CHARACTERS) {
    this.#mostKept = mostKept;
  }

  /** How often large values were prepared so far, for who counts what that costs. */
  get prepared(): number {
    return this.#prepared;
  }

  /**
   * The mask gives a text with every occurrence of a value masked: as it is, without the blanks around it, in JSON, in a
   * URL, in hexadecimal, in base64 wherever it begins; of a value of several lines, each line by itself too; of a long one,
   * each piece. Control characters and colours are taken out, as `printable` does. It takes time and memory in proportion
   * to the text and the values; others have their turns meanwhile.
   */
  of(values: Iterable<string>): Mask {
    const given = new Set(values);
    const known = new Set([...given].flatMap((value) => [value, value.trim()]).filter((value) => value !== ""));
    if (known.size === 0) return async (text) => printable(text);
    const characters = [...given].reduce((sum, value) => sum + value.length, 0);
    if (characters > MOST_VALUE_CHARACTERS) return () => Promise.reject(new TooMuchToMask("values"));
    if (characters > SMALL_CHARACTERS) return this.#large(known, characters);
    const room: Room = { characters };
    return async (text) => {
      room.sought ??= prepared(known);
      return withoutSecrets(text, await room.sought);
    };
  }

  #large(values: ReadonlySet<string>, characters: number): Mask {
    const key = digest(values);
    const room = this.#rooms.get(key)?.deref() ?? { characters };
    this.#rooms.set(key, new WeakRef(room));
    return (text) =>
      this.#inLine(async () => {
        this.#use(key, room);
        room.sought ??= this.#prepare(values);
        return withoutSecrets(text, await room.sought);
      });
  }

  #prepare(values: ReadonlySet<string>): Promise<Sought> {
    this.#prepared += 1;
    return prepared(values);
  }

  /** Makes it the last to go, and room for it before it is prepared. */
  #use(key: string, room: Room): void {
    this.#rooms.delete(key);
    let left = this.#mostKept - room.characters;
    for (const [other, held] of [...this.#rooms].reverse()) {
      const kept = held.deref();
      if (kept === undefined) this.#rooms.delete(other);
      if (kept?.sought === undefined) continue;
      left -= kept.characters;
      if (left < 0) kept.sought = undefined;
    }
    this.#rooms.set(key, new WeakRef(room));
  }
}

/** Where masks of the same values keep what is looked for; only they hold it. */
interface Room {
  readonly characters: number;
  sought?: Promise<Sought> | undefined;
}

/** The same for the same values in any order, and nothing that tells them. */
function digest(values: ReadonlySet<string>): string {
  return createHash("sha256")
    .update(JSON.stringify([...values].sort()))
    .digest("base64");
}

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

/** The text with one mask for each stretch, and one for each line of it: line ends stay where they are. */
async function covered(text: string, stretches: readonly Span[], work: Work): Promise<string> {
  let shown = "";
  let upTo = 0;
  for (const [start, end] of stretches) {
    shown += text.slice(upTo, start) + text.slice(start, end).replace(/[^\n]+/g, MASK);
    work.spend(end - upTo);
    upTo = end;
    await work.turnLeft();
  }
  return shown + text.slice(upTo);
}

/** What follows an escape character: a colour or a move of the cursor, and the title of a window. */
const SEQUENCES = /[^\P{Cc}\s]\[[0-9;?]*[ -/]*[@-~]|[^\P{Cc}\s]\][^\p{Cc}]*[^\P{Cc}\s]\\?/gu;

/**
 * The text without control characters and colours, so that none can tear a value apart or move a reader's cursor; line
 * ends stay.
 */
export function printable(text: string): string {
  return text
    .replace(SEQUENCES, "")
    .replace(/\r\n?/g, "\n")
    .replace(/\t/g, " ")
    .replace(/[^\P{C}\n]/gu, "");
}

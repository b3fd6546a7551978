import type { Work } from "./word-search.ts";

/** Another meaning of a text at a place than what is written there, and the number of characters that have it. */
export interface Reading {
  readonly meant: string;
  readonly length: number;
}

/** The most characters of a text that stand for one code unit: three bytes in a URL. Four bytes are two code units. */
export const LONGEST_FORM = 9;
/** The most characters of a text that are read as one thing. */
export const LONGEST_READING = 12;

const READING_LENGTHS = [1, 2, 3, 6, 9, LONGEST_READING];

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};
const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const PLUS = 0x2b;

/** Letters and digits have one form only. */
const isPlain = (character: string) => /^[A-Za-z0-9]$/.test(character);

/** The reading of JSON, a URL or a form of the characters that begin at a place; undefined where they have none but the plain one. */
export function readingAt(text: string, at: number): Reading | undefined {
  const first = text.charCodeAt(at);
  if (first === BACKSLASH) return inJson(text, at);
  if (first === PERCENT) return inUrl(text, at);
  return first === PLUS ? { meant: " ", length: 1 } : undefined;
}

function inJson(text: string, at: number): Reading | undefined {
  const meant = SHORT_ESCAPES[text.charAt(at + 1)];
  if (meant !== undefined) return { meant, length: 2 };
  const [, digits = ""] = /^\\u([0-9A-Fa-f]{4})/.exec(text.slice(at, at + 6)) ?? [];
  const unit = String.fromCharCode(Number.parseInt(digits, 16));
  return digits === "" || isPlain(unit) ? undefined : { meant: unit, length: 6 };
}

function inUrl(text: string, at: number): Reading | undefined {
  const [written = ""] = /^(?:%[0-9A-Fa-f]{2})+/.exec(text.slice(at, at + LONGEST_READING)) ?? [];
  const bytes = Buffer.from(written.replaceAll("%", ""), "hex");
  const length = bytesOfCharacter(bytes[0]);
  if (length === 0 || length > bytes.length) return undefined;
  const meant = bytes.toString("utf8", 0, length);
  const isOne = Buffer.byteLength(meant) === length && Array.from(meant).length === 1;
  return isOne && !isPlain(meant) ? { meant, length: 3 * length } : undefined;
}

/** The number of bytes of a character in UTF-8, by the first of them; 0 for a byte that begins none. */
function bytesOfCharacter(first = 0x80): number {
  if (first < 0x80) return 1;
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 0;
}

/** The cost of a try whether a character is written before a place, in steps of a search. */
const TRY_UNITS = 16;

/**
 * The place in a text at which a word begins that ends at `end`, however each of its characters is written: the first of
 * the places that are possible; `end` when no such word ends there. @throws TooMuchWork
 */
export function firstStart(text: string, word: string, end: number, work: Work): number {
  // By the remaining length of the word.
  const places = Array.from({ length: word.length + 1 }, () => new Set<number>());
  places[word.length]?.add(end);
  for (let left = word.length; left > 0; left -= 1) {
    for (const meant of lastCharacters(word.slice(0, left))) {
      for (const place of places[left] as Set<number>) {
        work.spend(TRY_UNITS);
        addAll(places[left - meant.length] as Set<number>, startsOf(text, meant, place));
      }
    }
  }
  return Math.min(end, ...(places[0] as Set<number>));
}

function addAll(places: Set<number>, more: readonly number[]): void {
  for (const place of more) places.add(place);
}

/** A character of two code units is written as two, or as one. */
function lastCharacters(word: string): readonly string[] {
  const [last = ""] = word.slice(-1);
  return /[\udc00-\udfff]/.test(last) && word.length > 1 ? [last, word.slice(-2)] : [last];
}

/** The places at which begins what is written before `end`, if it may mean this. */
function startsOf(text: string, meant: string, end: number): number[] {
  const starts = end >= meant.length && text.startsWith(meant, end - meant.length) ? [end - meant.length] : [];
  if (isPlain(meant)) return starts;
  for (const length of READING_LENGTHS) {
    const reading = length <= end ? readingAt(text, end - length) : undefined;
    if (reading?.length === length && reading.meant === meant) starts.push(end - length);
  }
  return starts;
}

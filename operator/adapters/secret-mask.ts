import { turnLeft } from "../kit/turns.ts";

const MASK = "***";
/** Shorter pieces of an encoding are ordinary words of any text. */
const SHORTEST_ENCODED = 6;
/** A shorter line of a longer value, such as a bracket, gives nothing away. */
const SHORTEST_LINE = 6;
/** A longer value is looked for in pieces; they overlap by more than what an encoding's ends leave open. */
const PIECE_LENGTH = 256;
const PIECE_OVERLAP = 8;

/** The text with every occurrence of some values masked. */
export type Mask = (text: string) => Promise<string>;

/** Masks these values in one text. */
export const masked = (text: string, values: Iterable<string>): Promise<string> => maskOf(values)(text);

/**
 * For many texts: what is looked for is prepared once. The mask gives a text with every occurrence of a value masked: as it is, without the blanks around it, in JSON, in a URL, in
 * hexadecimal, in base64 wherever it begins; of a value of several lines, each line by itself too; of a long one, each
 * piece. Control characters and colours are taken out, so that none can tear a value apart or move a reader's cursor; line
 * ends stay. A large Secret is work for many milliseconds: others have their turns meanwhile.
 */
export function maskOf(values: Iterable<string>): Mask {
  const known = new Set([...values].flatMap((value) => [value, value.trim()]).filter((value) => value !== ""));
  let preparing: Promise<readonly Sought[]> | undefined;
  return async (text) => {
    preparing ??= prepared(known);
    const sought = await preparing;
    return withoutValues(printable(await withoutValues(text, sought)), sought);
  };
}

/** What follows an escape character: a colour or a move of the cursor, and the title of a window. */
const SEQUENCES = /[^\P{Cc}\s]\[[0-9;?]*[ -/]*[@-~]|[^\P{Cc}\s]\][^\p{Cc}]*[^\P{Cc}\s]\\?/gu;

function printable(text: string): string {
  return text
    .replace(SEQUENCES, "")
    .replace(/\r\n?/g, "\n")
    .replace(/\t/g, " ")
    .replace(/[^\P{C}\n]/gu, "");
}

/** Where something stands in a text: from the first character to the one after the last. */
type Span = readonly [start: number, end: number];

/** Where something is in a text. */
type Sought = (search: Search) => readonly Span[];

async function prepared(values: Iterable<string>): Promise<readonly Sought[]> {
  const sought: Sought[] = [];
  for (const value of values) {
    for (const plain of plainPieces(value)) {
      await turnLeft();
      sought.push(plainly(plain));
    }
    for (const bytes of bytePieces(value)) {
      await turnLeft();
      sought.push(encoded(bytes));
    }
  }
  return sought;
}

async function withoutValues(text: string, sought: readonly Sought[]): Promise<string> {
  const search = new Search(text);
  const spans: Span[] = [];
  for (const find of sought) {
    await turnLeft();
    spans.push(...find(search));
  }
  return covered(text, spans);
}

/** The text with one mask for each stretch that spans lie in, and one for each line of it: line ends stay where they are. */
function covered(text: string, spans: readonly Span[]): string {
  let shown = "";
  let upTo = 0;
  for (const [start, end] of joined(spans)) {
    shown += text.slice(upTo, start) + text.slice(start, end).replace(/[^\n]+/g, MASK);
    upTo = end;
  }
  return shown + text.slice(upTo);
}

/** Spans that overlap or touch as one, in the order of the text. */
function joined(spans: readonly Span[]): readonly Span[] {
  const stretches: [start: number, end: number][] = [];
  for (const [start, end] of [...spans].sort(([one], [other]) => one - other)) {
    const last = stretches.at(-1);
    if (last === undefined || start > last[1]) stretches.push([start, end]);
    else last[1] = Math.max(last[1], end);
  }
  return stretches;
}

function plainPieces(value: string): string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  const telling = lines.filter((line) => line !== value && line.length >= SHORTEST_LINE);
  return [value, ...telling].flatMap((plain) =>
    // By characters, so that none of two code units is cut in two.
    plain.length <= PIECE_LENGTH ? [plain] : cut(Array.from(plain), (piece) => piece.join("")),
  );
}

const bytePieces = (value: string) => cut(Buffer.from(value), (piece) => piece);

function cut<T extends { readonly length: number; slice(start: number, end: number): T }, R>(
  whole: T,
  made: (piece: T) => R,
): R[] {
  const pieces: R[] = [];
  for (let start = 0; ; start += PIECE_LENGTH - PIECE_OVERLAP) {
    const isLast = start + PIECE_LENGTH >= whole.length;
    // The last one is no shorter than the others: a rest of three letters stands in any text.
    const from = isLast ? Math.max(0, whole.length - PIECE_LENGTH) : start;
    pieces.push(made(whole.slice(from, from + PIECE_LENGTH)));
    if (isLast) return pieces;
  }
}

/** One text to look in. */
class Search {
  readonly text: string;
  /** Hexadecimal in either case and base64 in either alphabet, each brought to one: as long as the text. */
  readonly hex: string;
  readonly base64: string;

  constructor(text: string) {
    this.text = text;
    this.hex = text.replace(/[A-F]/g, (digit) => digit.toLowerCase());
    this.base64 = text.replaceAll("-", "+").replaceAll("_", "/");
  }
}

/** Each character as it is, or as JSON or a URL may write it. */
function plainly(piece: string): Sought {
  const anchor = longestWord(piece);
  if (anchor === piece) return ({ text }) => occurrences(text, piece);
  let pattern: RegExp | undefined;
  return ({ text }) => {
    // Most values are nowhere in a text, and an expression for each would take long to make.
    if (!text.includes(anchor)) return [];
    pattern ??= new RegExp(Array.from(piece, characterForms).join(""), "g");
    return Array.from(text.matchAll(pattern), ({ 0: found, index }) => [index, index + found.length] as const);
  };
}

function encoded(bytes: Buffer): Sought {
  const isTelling = (form: string) => form.length >= SHORTEST_ENCODED;
  const inHex = [bytes.toString("hex")].filter(isTelling);
  const inBase64 = base64Forms(bytes).filter(isTelling);
  return ({ hex, base64 }) => [
    ...inHex.flatMap((form) => occurrences(hex, form)),
    ...inBase64.flatMap((form) => occurrences(base64, form)),
  ];
}

/** Letters and digits are written one way only. */
function longestWord(piece: string): string {
  const words = piece.match(/[A-Za-z0-9]+/g) ?? [];
  return words.reduce((longest, word) => (word.length > longest.length ? word : longest), "");
}

function occurrences(text: string, sought: string): Span[] {
  const spans: Span[] = [];
  for (let start = text.indexOf(sought); start >= 0; start = text.indexOf(sought, start + 1)) {
    spans.push([start, start + sought.length]);
  }
  return spans;
}

/** A character as it is, or as JSON or a URL may write it; a letter or digit is written one way only. */
function characterForms(character: string): string {
  if (/[A-Za-z0-9]/.test(character)) return character;
  const inJson = JSON.stringify(character).slice(1, -1);
  const more = character === "/" ? ["\\/"] : character === " " ? ["+"] : [];
  const percent = Array.from(Buffer.from(character), (byte) => `%${hexDigits(byte, 2)}`).join("");
  const units = Array.from(
    { length: character.length },
    (_, index) => `\\\\u${hexDigits(character.charCodeAt(index), 4)}`,
  );
  const forms = new Set([...[inJson, ...more, character].map(literally), percent, units.join("")]);
  return `(?:${[...forms].join("|")})`;
}

const literally = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

/** A number in hexadecimal of either case, as a regular expression. */
function hexDigits(number: number, digits: number): string {
  const text = number.toString(16).padStart(digits, "0");
  return text.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

/** As part of a longer text a value has three encodings, by where it begins; what its neighbours touch is left out. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString("base64")
      .replaceAll("=", "");
    return encoded.slice(offset === 0 ? 0 : offset + 1, -1);
  });
}

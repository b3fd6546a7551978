import { turnLeft } from "../kit/turns.ts";

const MASK = "***";
/** Shorter pieces of an encoding are ordinary words of any text. */
const SHORTEST_ENCODED = 6;
/** A shorter line of a longer value, such as a bracket, gives nothing away. */
const SHORTEST_LINE = 6;
/** A longer value is looked for in pieces; they overlap by more than what an encoding's ends leave open. */
const PIECE_LENGTH = 256;
const PIECE_OVERLAP = 8;

/**
 * The text with every occurrence of a value masked: as it is, without the blanks around it, in JSON, in a URL, in
 * hexadecimal, in base64 wherever it begins; of a value of several lines, each line by itself too; of a long one, each
 * piece. Control characters and colours are taken out, so that none can tear a value apart or move a reader's cursor; line
 * ends stay. A large Secret is work for many milliseconds: others have their turns meanwhile.
 */
export async function masked(text: string, values: Iterable<string>): Promise<string> {
  const known = new Set([...values].flatMap((value) => [value, value.trim()]).filter((value) => value !== ""));
  return withoutValues(printable(await withoutValues(text, known)), known);
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

async function withoutValues(text: string, values: Iterable<string>): Promise<string> {
  const search = new Search(text);
  const spans: Span[] = [];
  for (const value of values) {
    for (const plain of plainPieces(value)) {
      await turnLeft();
      spans.push(...search.plain(plain));
    }
    for (const bytes of bytePieces(value)) {
      await turnLeft();
      spans.push(...search.encoded(bytes));
    }
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

/** Looks for pieces of values in one text. */
class Search {
  readonly #text: string;
  readonly #forms = new Map<string, string>();
  /** Hexadecimal in either case and base64 in either alphabet, each brought to one: as long as the text. */
  readonly #hex: string;
  readonly #base64: string;

  constructor(text: string) {
    this.#text = text;
    this.#hex = text.replace(/[A-F]/g, (digit) => digit.toLowerCase());
    this.#base64 = text.replaceAll("-", "+").replaceAll("_", "/");
  }

  /** Each character as it is, or as JSON or a URL may write it. */
  plain(piece: string): Span[] {
    const anchor = longestWord(piece);
    if (anchor === piece) return occurrences(this.#text, piece);
    // Most values are nowhere in the text, and an expression for each would take long to make.
    if (!this.#text.includes(anchor)) return [];
    const pattern = new RegExp(Array.from(piece, (character) => this.#formsOf(character)).join(""), "g");
    return Array.from(this.#text.matchAll(pattern), ({ 0: found, index }) => [index, index + found.length] as const);
  }

  encoded(bytes: Buffer): Span[] {
    const hex = bytes.toString("hex");
    return [
      ...(hex.length < SHORTEST_ENCODED ? [] : occurrences(this.#hex, hex)),
      ...base64Forms(bytes).flatMap((form) => (form.length < SHORTEST_ENCODED ? [] : occurrences(this.#base64, form))),
    ];
  }

  #formsOf(character: string): string {
    const known = this.#forms.get(character) ?? characterForms(character);
    this.#forms.set(character, known);
    return known;
  }
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

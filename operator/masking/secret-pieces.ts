import type { YieldIfDue } from "./word-search.ts";

/** Shorter pieces of an encoding are ordinary words. */
const SHORTEST_ENCODED = 6;
/** A shorter line of a longer value, such as a bracket, reveals nothing. */
const SHORTEST_LINE = 6;
/** Longer values are searched in pieces, which overlap by more than an encoding's open ends. */
const PIECE_LENGTH = 256;
const PIECE_OVERLAP = 8;

/** The pieces of values that a text is searched for, each once. */
interface SecretPieces {
  /** Found in any form of their characters. */
  readonly plain: ReadonlySet<string>;
  /** Pieces in lower case. */
  readonly hex: ReadonlySet<string>;
  /** Pieces in the alphabet with `+` and `/`. */
  readonly base64: ReadonlySet<string>;
}

/**
 * The pieces that show any of these values: the value, of one of several lines each line by itself too, of a long one each piece;
 * in hexadecimal, and in base64 wherever it begins.
 */
export async function secretPieces(values: Iterable<string>, yieldIfDue: YieldIfDue): Promise<SecretPieces> {
  const [plain, hex, base64] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const value of values) {
    await yieldIfDue();
    for (const piece of [...plainLines(value)].flatMap(plainPieces)) plain.add(piece);
    for (const bytes of cut(Buffer.from(value))) {
      await yieldIfDue();
      addTelling(hex, [bytes.toString("hex")]);
      addTelling(base64, base64Forms(bytes));
    }
  }
  return { plain, hex, base64 };
}

function addTelling(all: Set<string>, forms: readonly string[]): void {
  for (const form of forms) if (form.length >= SHORTEST_ENCODED) all.add(form);
}

/** Duplicate lines count once. */
function plainLines(value: string): ReadonlySet<string> {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  return new Set([value, ...lines.filter((line) => line.length >= SHORTEST_LINE)]);
}

function plainPieces(value: string): readonly string[] {
  if (value.length <= PIECE_LENGTH) return [value];
  // By characters, so that no surrogate pair is cut.
  return cut(Array.from(value)).map((piece) => piece.join(""));
}

function cut<T extends { readonly length: number; slice(start: number, end: number): T }>(whole: T): T[] {
  const pieces: T[] = [];
  for (let start = 0; ; start += PIECE_LENGTH - PIECE_OVERLAP) {
    const isLast = start + PIECE_LENGTH >= whole.length;
    // The last piece is as long as the others: a rest of three letters occurs in any text.
    const from = isLast ? Math.max(0, whole.length - PIECE_LENGTH) : start;
    pieces.push(whole.slice(from, from + PIECE_LENGTH));
    if (isLast) return pieces;
  }
}

/**
 * Inside a longer text a value has three base64 forms, by its offset; characters shared with neighbours are left out.
 */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString("base64")
      .replaceAll("=", "");
    return encoded.slice(offset === 0 ? 0 : offset + 1, -1);
  });
}

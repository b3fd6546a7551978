const MASK = "***";
/** Shorter pieces of an encoding are ordinary words of any text. */
const SHORTEST_ENCODED = 6;
/** A shorter line of a longer value, such as a bracket, gives nothing away. */
const SHORTEST_LINE = 6;

/**
 * The text with every occurrence of a value masked: as it is, in JSON, in a URL, in hexadecimal, in base64 wherever it
 * begins; of a value of several lines, each line by itself too. Control characters and colours are taken out, so that
 * none can tear a value apart or move a reader's cursor; line ends stay.
 */
export function masked(text: string, values: Iterable<string>): string {
  const forms = [...values].flatMap(formsOf);
  // The longest first: a shorter one may be a part of it.
  const patterns = [...new Set(forms)].sort((one, other) => other.length - one.length);
  const withoutValues = (shown: string) =>
    patterns.length === 0 ? shown : shown.replace(new RegExp(patterns.join("|"), "gu"), MASK);
  return withoutValues(printable(withoutValues(text)));
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

/** Everything that stands for the value in a text, as regular expressions. */
function formsOf(value: string): string[] {
  if (value === "") return [];
  const lines = value.split(/\r?\n/).filter((line) => line !== value && line.trim().length >= SHORTEST_LINE);
  const bytes = Buffer.from(value);
  const encoded = [bytes.toString("hex"), ...base64Forms(bytes)].filter(({ length }) => length >= SHORTEST_ENCODED);
  return [
    ...[value, ...lines.map((line) => line.trim())].map((plain) => Array.from(plain, characterForms).join("")),
    ...encoded.map(encodedForm),
  ];
}

/** A character as it is, or as JSON or a URL may write it; a letter or digit is written one way only. */
function characterForms(character: string): string {
  if (/[A-Za-z0-9]/.test(character)) return character;
  const inJson = JSON.stringify(character).slice(1, -1);
  const more = character === "/" ? ["\\/"] : character === " " ? ["+"] : [];
  const percent = Array.from(Buffer.from(character), (byte) => `%${hex(byte, 2)}`).join("");
  const units = Array.from({ length: character.length }, (_, index) => `\\\\u${hex(character.charCodeAt(index), 4)}`);
  const forms = new Set([...[inJson, ...more, character].map(literally), percent, units.join("")]);
  return `(?:${[...forms].join("|")})`;
}

const literally = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

const hex = (number: number, digits: number) => anyCase(number.toString(16).padStart(digits, "0"));

function anyCase(digits: string): string {
  return digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
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

/** Hexadecimal in either case; base64 in either alphabet. */
function encodedForm(encoded: string): string {
  if (/^[0-9a-f]+$/.test(encoded)) return anyCase(encoded);
  return encoded.replaceAll("+", "[-+]").replaceAll("/", "[/_]");
}

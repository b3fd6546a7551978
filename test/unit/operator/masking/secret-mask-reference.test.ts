import { expect, jest, test } from "@jest/globals";
import fc from "fast-check";
import { yieldIfDue } from "../../../../operator/kit/time/yield-if-due.ts";
import { SecretMasks } from "../../../../operator/masking/secret-mask.ts";

// A busy machine takes long for thousands of texts.
jest.setTimeout(120_000);

/** Spellings of a character in JSON, URLs and forms, as regular expressions. */
function formsOf(character: string): readonly RegExp[] {
  const literally = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const hex = (number: number, digits: number) =>
    number
      .toString(16)
      .padStart(digits, "0")
      .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  if (/[A-Za-z0-9]/.test(character)) return [new RegExp(character, "y")];
  const percent = Array.from(Buffer.from(character), (byte) => `%${hex(byte, 2)}`).join("");
  const units = character.split("").map((unit) => `\\\\u${hex(unit.charCodeAt(0), 4)}`);
  const more = character === "/" ? ["\\/"] : character === " " ? ["+"] : [];
  const literal = [JSON.stringify(character).slice(1, -1), character, ...more].map(literally);
  return [...literal, percent, units.join("")].map((form) => new RegExp(form, "y"));
}

function endsOf(text: string, start: number, meant: string): readonly number[] {
  const endOf = (form: RegExp, from: number) => {
    form.lastIndex = from;
    const [found] = form.exec(text) ?? [];
    return found === undefined ? [] : [from + found.length];
  };
  return Array.from(meant).reduce<number[]>(
    (ends, character) => {
      const forms = formsOf(character);
      return [...new Set(ends.flatMap((end) => forms.flatMap((form) => endOf(form, end))))];
    },
    [start],
  );
}

/** Searched forms of a value, in a text of one case and one alphabet. */
function encodings(value: string): readonly [read: (text: string) => string, form: string][] {
  const lowerHex = (text: string) => text.replace(/[A-F]/g, (digit) => digit.toLowerCase());
  const oneAlphabet = (text: string) => text.replaceAll("-", "+").replaceAll("_", "/");
  const base64 = [0, 1, 2].map((offset) => {
    const whole = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)])
      .toString("base64")
      .replaceAll("=", "");
    return whole.slice(offset === 0 ? 0 : offset + 1, -1);
  });
  const all: [typeof lowerHex, string][] = [[lowerHex, Buffer.from(value).toString("hex")]];
  for (const form of base64) all.push([oneAlphabet, form]);
  return all.filter(([, form]) => form.length >= 6);
}

type Span = readonly [start: number, end: number];

function spansOf(text: string, value: string): readonly Span[] {
  const places = Array.from(text.split("").keys());
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  const plain = [value, ...lines.filter((line) => line.length >= 6)].flatMap((piece) =>
    places.map((start) => [start, Math.max(start, ...endsOf(text, start, piece))] as const),
  );
  const encoded = encodings(value).flatMap(([read, form]) => {
    const starts = places.filter((start) => read(text).startsWith(form, start));
    return starts.map((start) => [start, start + form.length] as const);
  });
  return [...plain, ...encoded];
}

/** Tries everything everywhere: short, and evidently right. */
function naivelyMasked(text: string, values: readonly string[]): string {
  const known = values.flatMap((value) => [value, value.trim()]).filter((value) => value !== "");
  const units = text.split("");
  for (const [start, end] of known.flatMap((value) => spansOf(text, value))) {
    for (let place = start; place < end; place += 1) if (units[place] !== "\n") units[place] = "\0";
  }
  return units.join("").replace(/\0+/g, "***");
}

/** Few characters, so that escapes overlap by chance: in values, in texts, and within each other. */
const character = fc.constantFrom(...Array.from('\\\\\\%%nru02f5cCab"/+ \n-é€😀'));
const word = (most: number) => fc.array(character, { maxLength: most }).map((all) => all.join(""));

const written = (value: string) => {
  const percent = (form: string) =>
    Array.from(Buffer.from(form), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  const unicode = (form: string) =>
    form
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join("");
  const oneOf = (one: string) =>
    /[a-zA-Z0-9]/.test(one)
      ? fc.constant(one)
      : fc.constantFrom(one, JSON.stringify(one).slice(1, -1), percent(one), percent(one).toUpperCase(), unicode(one));
  return fc.tuple(...Array.from(value, oneOf)).map((all) => all.join(""));
};

const scene = fc
  .array(
    word(14).filter((value) => value !== ""),
    { minLength: 1, maxLength: 3 },
  )
  .chain((values) => {
    const value = fc.constantFrom(...values);
    const part = fc.oneof(
      word(6),
      value.chain(written),
      value.map((one) => Buffer.from(one).toString("hex")),
      value.map((one) => Buffer.from(`z${one}yy`).toString("base64url")),
    );
    return fc.record({
      values: fc.constant(values),
      text: fc.array(part, { maxLength: 6 }).map((all) => all.join("")),
    });
  });

test("abuse 90: what is masked is what trying everything everywhere masks, however a text can be read", async () => {
  await fc.assert(
    fc.asyncProperty(scene, async ({ values, text }) => {
      // The mask looks a second time, at what it is about to show.
      expect(await new SecretMasks(yieldIfDue).of(values)(text)).toBe(
        naivelyMasked(naivelyMasked(text, values), values),
      );
    }),
    { numRuns: 400 },
  );
});

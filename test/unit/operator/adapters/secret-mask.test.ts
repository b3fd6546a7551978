import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { masked } from "../../../../operator/adapters/secret-mask.ts";

const VALUE = 'p@ss w/rd"1\\é';
const KEY = "-----BEGIN KEY-----\nMIIBVgIBADANBgkqhkiG\nAbCdEfGh12345678\n-----END KEY-----\n";

const cases: readonly { name: string; text: string; values?: readonly string[]; expected: string }[] = [
  { name: "a text without values stays", text: "listening on 8080", expected: "listening on 8080" },
  { name: "as it is", text: `login(${VALUE})`, expected: "login(***)" },
  { name: "twice", text: `${VALUE}${VALUE}`, expected: "******" },
  { name: "in a URL", text: `postgres://u:${encodeURIComponent(VALUE)}@db`, expected: "postgres://u:***@db" },
  { name: "in a URL in lower case", text: encodeURIComponent(VALUE).toLowerCase(), expected: "***" },
  {
    name: "in a form",
    text: `password=${new URLSearchParams({ v: VALUE }).toString().slice(2)}&a=b`,
    expected: "password=***&a=b",
  },
  { name: "in JSON", text: JSON.stringify({ password: VALUE }), expected: '{"password":"***"}' },
  {
    name: "in hexadecimal",
    text: Buffer.from(VALUE).toString("hex"),
    expected: "***",
  },
  { name: "in upper-case hexadecimal", text: Buffer.from(VALUE).toString("hex").toUpperCase(), expected: "***" },
  { name: "torn apart by a colour", text: 'p@ss \u001b[31mw/rd"1\\é\u001b[0m!', expected: "***!" },
  { name: "torn apart by a zero-width character", text: 'p@ss w/\u200brd"1\\é', expected: "***" },
  {
    name: "a line of a value of many lines",
    text: "could not parse MIIBVgIBADANBgkqhkiG",
    values: [KEY],
    expected: "could not parse ***",
  },
  {
    name: "the longer of two values that begin alike",
    text: "secret-one-two",
    values: ["secret", "secret-one-two"],
    expected: "***",
  },
  {
    name: "what a regular expression would read as its own",
    text: "a.b*c(d axbxc",
    values: ["a.b*c(d"],
    expected: "*** axbxc",
  },
  { name: "an empty value masks nothing", text: "abc", values: [""], expected: "abc" },
  {
    name: "a terminal's window gets no title",
    text: "a\u001b]0;title\u0007b\u001b]0;t\u001b\\c\n[d]",
    expected: "abc\n[d]",
  },
  { name: "control characters and carriage returns go", text: "a\u0000b\r\nc\td\u202ee", expected: "ab\nc de" },
];

describe("what a container said, with every value of its secrets masked", () => {
  test.each(cases)("$name", ({ text, values = [VALUE], expected }) => {
    expect(masked(text, values)).toBe(expected);
  });

  test("in base64, wherever in the encoded text it begins, in either alphabet", () => {
    for (const before of ["", "a", "ab", "abc"]) {
      for (const encoding of ["base64", "base64url"] as const) {
        const inside = Buffer.from(VALUE).toString("base64").slice(4, 12);
        const shown = masked(Buffer.from(`${before}${VALUE}tail`).toString(encoding), [VALUE]);
        expect(shown).toContain("***");
        expect(shown).not.toContain(inside);
      }
    }
  });

  test("whatever the value and what surrounds it, it is nowhere in the result", () => {
    const value = fc
      .string({ unit: "binary", minLength: 4, maxLength: 40 })
      .filter((text) => text.trim() !== "" && !"***".includes(text));
    fc.assert(
      fc.property(value, fc.string(), fc.string(), (secret, before, after) => {
        expect(masked(`${before}${secret}${after}`, [secret])).not.toContain(secret);
      }),
    );
  });
});

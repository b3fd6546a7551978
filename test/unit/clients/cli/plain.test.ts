import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { plain, plainJson, plainLine } from "../../../../clients/cli/output/plain.ts";

const OBEYED = /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;

describe("text of others", () => {
  test.each([
    ["colours", "\u001b[1;31mred\u001b[0m", "red"],
    ["colours in 8 bits", "\u009b31mred", "red"],
    ["a title of the window", "\u001b]0;owned\u0007text", "text"],
    ["a link that ends with ST", "\u001b]8;;https://evil.test\u001b\\here\u001b]8;;\u001b\\", "here"],
    ["a string that never ends", "before\u001bPpayload", "before"],
    ["a sequence in a sequence", "\u001b[\u001b[31m31mtext", "31mtext"],
    ["a lone escape", "a\u001b", "a"],
    ["a line that is written over", "shown\rhidden", "shownhidden"],
    ["marks that turn the direction", "a\u202eb\u2066c\u200ed", "abcd"],
    ["tabs and line ends", "a\tb\nc", "a  b\nc"],
  ])("has no effect on a terminal: %s", (_, text, expected) => {
    expect(plain(text)).toBe(expected);
    expect(plain(text)).not.toMatch(OBEYED);
  });

  test("is one line where one is wanted", () => {
    expect(plainLine("one \r\n two\nthree")).toBe("one two three");
  });

  test("means the same as JSON, in which nothing is obeyed either", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const json = plainJson({ text }, 2);
        expect(json).not.toMatch(OBEYED);
        expect(JSON.parse(json)).toEqual({ text });
      }),
    );
  });
});

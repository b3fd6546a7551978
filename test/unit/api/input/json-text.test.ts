import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { parseJson } from "../../../../api/input/json-text.ts";
import { JSON_MAX_DEPTH } from "../../../../crds/json.ts";

const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

describe("parseJson", () => {
  test("reads the same as JSON.parse, for every content of texts and keys", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value);
        if (/"(__proto__|constructor|prototype)"\s*:/.test(text)) return;
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test.each([
    ["brackets in a text", '{"a":"[[[{{{","b":"}"}'],
    ["quotes in a text", '{"a":"\\"a\\":1","b":"\\\\"}'],
    ["a text that looks like a key of the same name", '{"a":"a","b":["a","a"]}'],
    ["the same key in two objects", '[{"a":1},{"a":{"a":2}}]'],
    ["white space before a colon", '{"a" \n:1,"b":2}'],
    ["a value that names a prototype", '{"a":"__proto__"}'],
    ["the deepest nesting", nested(JSON_MAX_DEPTH)],
  ])("takes %s", (_case, text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text));
    expect(parseJson(Buffer.from(text))).toEqual(JSON.parse(text));
  });

  test.each([
    ["one level more", nested(JSON_MAX_DEPTH + 1), /nested deeper/],
    ["a key twice", '{"a":1,"b":2,"a":3}', /twice/],
    ["a key twice, deep inside", '[{"x":{"a":1,"\\u0061":2}}]', /twice/],
    ["__proto__", '{"__proto__":1}', /__proto__/],
    ["constructor with space before the colon", '{"constructor" :1}', /constructor/],
    ["broken JSON", '{"a":}', /not valid JSON/],
    ["a broken escape in a key", '{"\\x":1}', /not valid JSON/],
    ["nothing", "", /not valid JSON/],
  ])("refuses %s", (_case, text, message) => {
    expect(() => parseJson(text)).toThrow(message);
  });

  test("refuses bytes that are not UTF-8", () => {
    expect(() => parseJson(Buffer.from([0x22, 0xc3, 0x28, 0x22]))).toThrow(/UTF-8/);
  });

  test("needs time in proportion to the text, also for unclosed strings", () => {
    for (const text of [
      '"'.repeat(262_144),
      '{"a":'.repeat(50_000),
      `"${"\\".repeat(262_143)}`,
      '{"'.repeat(131_072),
      `{"a":"${'\\"'.repeat(120_000)}`,
      '"\\'.repeat(120_000),
    ]) {
      const started = performance.now();
      expect(() => parseJson(text)).toThrow();
      expect(performance.now() - started).toBeLessThan(10_000);
    }
  });
});

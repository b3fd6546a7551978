import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { checkDepth } from "../../../../api/input/json-text.ts";
import { JSON_MAX_DEPTH } from "../../../../crds/json.ts";

const nested = (depth: number, inside = "") => `${"[".repeat(depth)}${inside}${"]".repeat(depth)}`;

test.each([
  ["the deepest nesting", nested(JSON_MAX_DEPTH)],
  ["brackets in a text", `["${"[{".repeat(40)}"]`],
  ["brackets after an escaped quote", `["\\"${"[".repeat(40)}"]`],
  ["a text that ends in a backslash", `["\\\\","${"[".repeat(40)}"]`],
  ["a text that is never closed", `["${"[".repeat(40)}`],
  ["many lists, one after the other", `[${"[],".repeat(1_000)}[]]`],
  ["letters of more than one byte", `["äöü漢字${"[".repeat(40)}"]`],
])("takes %s", (_case, text) => {
  expect(() => checkDepth(Buffer.from(text))).not.toThrow();
});

test.each([
  ["one level more", nested(JSON_MAX_DEPTH + 1)],
  ["the same of objects", '{"a":'.repeat(JSON_MAX_DEPTH + 1)],
  ["the same behind a text", `["\\\\",${nested(JSON_MAX_DEPTH, '"]"')}]`],
])("refuses %s", (_case, text) => {
  expect(() => checkDepth(Buffer.from(text))).toThrow("nested deeper");
});

test("takes every JSON of less depth", () => {
  fc.assert(fc.property(fc.json({ maxDepth: 8 }), (text) => checkDepth(Buffer.from(text))));
});

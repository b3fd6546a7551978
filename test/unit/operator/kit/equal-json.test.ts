import { isDeepStrictEqual } from "node:util";
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { equalJson } from "../../../../operator/kit/equal-json.ts";

const copyOf = (value: unknown) => JSON.parse(JSON.stringify(value));

test("JSON values are equal exactly when a deep comparison says so", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => expect(equalJson(value, copyOf(value))).toBe(true)));
  const different = ([one, other]: [unknown, unknown]) => !isDeepStrictEqual(one, other);
  const pairs = fc
    .tuple(fc.jsonValue(), fc.jsonValue())
    .map(([one, other]) => [copyOf(one), copyOf(other)] as [unknown, unknown]);
  fc.assert(fc.property(pairs.filter(different), ([one, other]) => expect(equalJson(one, other)).toBe(false)));
});

test.each<{ one: unknown; other: unknown }>([
  { one: { a: 1 }, other: { a: 1, b: 2 } },
  { one: {}, other: { constructor: 1 } },
  { one: [1], other: [1, 2] },
  { one: { 0: 1 }, other: [1] },
  { one: { a: {} }, other: { a: [] } },
  { one: { a: null }, other: {} },
  { one: "1", other: 1 },
])("$one is not $other", ({ one, other }) => {
  expect([equalJson(one, other), equalJson(other, one)]).toEqual([false, false]);
});

test("the order of fields does not count, nor does one that is undefined", () => {
  expect(equalJson({ a: 1, b: 2, c: undefined }, { b: 2, a: 1 })).toBe(true);
  expect(equalJson({ b: 2, a: 1 }, { a: 1, b: 2, c: undefined })).toBe(true);
  expect(equalJson({ a: undefined }, { b: 1 })).toBe(false);
});

import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { JsonObject } from "../../../../../../crds/json.ts";
import { merge, nested } from "../../../../../../operator/controllers/environment/desired/values.ts";

describe("merged values", () => {
  test.each([
    { name: "the upper layer wins", given: [{ a: 1 }, { a: 2 }], expected: { a: 2 } },
    { name: "objects merge", given: [{ a: { b: 1, c: 1 } }, { a: { c: 2 } }], expected: { a: { b: 1, c: 2 } } },
    { name: "lists replace", given: [{ a: [1, 2] }, { a: [3] }], expected: { a: [3] } },
    {
      name: "an object replaces a scalar or a list",
      given: [
        { a: 1, b: [1] },
        { a: { c: 1 }, b: {} },
      ],
      expected: { a: { c: 1 }, b: {} },
    },
    { name: "a scalar replaces an object", given: [{ a: { b: 1 } }, { a: "x" }], expected: { a: "x" } },
    {
      name: "null and false are values like others",
      given: [
        { a: 1, b: true },
        { a: null, b: false },
      ],
      expected: { a: null, b: false },
    },
    { name: "what is left out leaves what is below", given: [{ a: 1 }, {}, { a: undefined }], expected: { a: 1 } },
    {
      name: "three layers, the last first",
      given: [{ a: 1, b: 1, c: 1 }, { b: 2, c: 2 }, { c: 3 }],
      expected: { a: 1, b: 2, c: 3 },
    },
  ] satisfies { name: string; given: JsonObject[]; expected: JsonObject }[])("$name", ({ given, expected }) => {
    expect(merge(...given)).toEqual(expected);
  });

  test("have their keys in order, at every depth, so that the same values read the same", () => {
    expect(JSON.stringify(merge({ b: { d: 1, c: 1 } }, { a: 1 }))).toBe('{"a":1,"b":{"c":1,"d":1}}');
  });

  test("carry names that JavaScript knows, and change nothing but themselves", () => {
    const hostile = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') as JsonObject;
    expect(JSON.parse(JSON.stringify(merge({ a: 1 }, hostile, hostile)))).toEqual(
      JSON.parse(`{"a":1,${JSON.stringify(hostile).slice(1)}`),
    );
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test("are their own fixed point, whatever they hold", () => {
    const objects = fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<JsonObject>;
    fc.assert(
      fc.property(objects, objects, (below, above) => {
        const both = merge(below, above);
        expect(merge(both, above)).toEqual(both);
        expect(merge({}, both)).toEqual(both);
      }),
    );
  });
});

test("a path becomes the objects around its value", () => {
  expect(nested(["a", "b", "c"], 1)).toEqual({ a: { b: { c: 1 } } });
  expect(Object.keys(nested(["__proto__"], 1))).toEqual(["__proto__"]);
});

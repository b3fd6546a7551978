import { describe, expect, test } from "@jest/globals";
import { type FieldSchema, schemaGaps } from "../../../../operator/installation/kinds-check.ts";

const text = {};
const fields = (properties: Record<string, FieldSchema>): FieldSchema => ({ properties });

describe("the fields that a served schema lacks", () => {
  test.each<{ name: string; required: FieldSchema; served: FieldSchema; expected: string[] }>([
    { name: "none of its own", required: fields({ a: text }), served: fields({ a: text }), expected: [] },
    { name: "none that it has beyond", required: fields({}), served: fields({ a: text }), expected: [] },
    { name: "a field", required: fields({ a: text, b: text }), served: fields({ a: text }), expected: ["b"] },
    {
      name: "a part of a field",
      required: fields({ a: fields({ b: text }) }),
      served: fields({ a: fields({}) }),
      expected: ["a.b"],
    },
    {
      name: "a field without its own parts",
      required: fields({ a: fields({ b: text }) }),
      served: fields({}),
      expected: ["a"],
    },
    {
      name: "a part of each entry of a list",
      required: fields({ a: { items: fields({ b: text }) } }),
      served: fields({ a: { items: fields({}) } }),
      expected: ["a[].b"],
    },
    {
      name: "a part of each value of a map",
      required: fields({ a: { additionalProperties: fields({ b: text }) } }),
      served: fields({ a: { additionalProperties: fields({}) } }),
      expected: ["a.*.b"],
    },
    {
      name: "the entries and the values themselves",
      required: fields({ a: { items: text }, b: { additionalProperties: text }, c: { additionalProperties: true } }),
      served: fields({ a: text, b: text, c: text }),
      expected: ["a[]", "b.*"],
    },
    {
      name: "nothing below what keeps whatever is there",
      required: fields({ a: fields({ b: text }) }),
      served: fields({ a: { "x-kubernetes-preserve-unknown-fields": true } }),
      expected: [],
    },
  ])("$name", ({ required, served, expected }) => {
    expect(schemaGaps(required, served)).toEqual(expected);
  });
});

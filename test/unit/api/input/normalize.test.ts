import { describe, expect, test } from "@jest/globals";
import { type TSchema, Type } from "typebox";
import { asMeant } from "../../../../api/input/request-input.ts";
import { checker } from "../../../../api/input/validation.ts";
import { exampleOf } from "../../../../api/openapi/examples.ts";
import { listRoutes } from "../../../../api/routes.ts";
import { closed, map } from "../../../../crds/schema.ts";

const schema = closed({
  needed: Type.String(),
  optional: Type.Optional(Type.String()),
  nested: Type.Optional(closed({ needed: Type.Integer(), optional: Type.Optional(Type.Integer()) })),
  list: Type.Optional(Type.Array(closed({ optional: Type.Optional(Type.String()) }))),
  byName: Type.Optional(map(closed({ optional: Type.Optional(Type.String()) }))),
  free: Type.Optional(Type.Object({ known: Type.Optional(Type.String()) }, { additionalProperties: true })),
  digits: Type.Optional(Type.String({ "x-number-as-text": true })),
});

describe("a body is read as it is meant:", () => {
  test.each([
    ["null for an optional field is no field", { needed: "x", optional: null, nested: null }, { needed: "x" }],
    ["null for a required one stays", { needed: null }, { needed: null }],
    ["also further down", { nested: { needed: null, optional: null } }, { nested: { needed: null } }],
    ["and in lists, whose items stay", { list: [{ optional: null }, null] }, { list: [{}, null] }],
    [
      "the user's own keys stay",
      { byName: { optional: { optional: null }, other: null } },
      { byName: { optional: {}, other: null } },
    ],
    ["what is free stays", { free: { known: null, other: null } }, { free: { other: null } }],
    ["what is not known stays", { other: null, toString: null }, { other: null, toString: null }],
    ["a number is its digits where they are text", { digits: 3 }, { digits: "3" }],
    ["but no fraction, and none that lost digits", { digits: 1.5 }, { digits: 1.5 }],
    ["a number stays one elsewhere", { optional: 3 }, { optional: 3 }],
    ["what is no object stays", [null, 1], [null, 1]],
  ])("%s", (_rule, given, expected) => {
    expect(asMeant(given, schema)).toEqual(expected);
  });

  test("a key that reaches for a prototype stays a key", () => {
    const given = JSON.parse('{"__proto__":{"x":null}}');
    expect(Object.keys(asMeant(given, schema) as object)).toEqual(["__proto__"]);
  });
});

const bodies = listRoutes().flatMap(({ contract: { operationId, body } }) =>
  body === undefined || !("properties" in body) ? [] : [[operationId, body] as [string, TSchema]],
);

describe.each(bodies)("the body of %s", (_operation, body) => {
  const check = (value: unknown) => checker(body)(asMeant(value, body)).valid;
  const { properties, required = [] } = body as unknown as { properties: object; required?: string[] };
  const valid = exampleOf({ ...body }) as Record<string, unknown>;
  const optional = Object.keys(properties).filter((name) => !required.includes(name));

  test("may have null for each optional field", () => {
    for (const field of optional) {
      const { [field]: _, ...others } = valid;
      expect([field, check({ ...others, [field]: null })]).toEqual([field, check(others)]);
    }
  });

  test("must not have null for a required one", () => {
    expect(check(valid)).toBe(true);
    for (const field of required) expect([field, check({ ...valid, [field]: null })]).toEqual([field, false]);
  });
});

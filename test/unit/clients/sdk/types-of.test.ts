import { describe, expect, test } from "@jest/globals";
import { type Schema, typeOf } from "../../../../clients/sdk/types-of.ts";

describe("a schema's type", () => {
  test.each<readonly [what: string, schema: Schema, type: string]>([
    ["a text", { type: "string", minLength: 1, pattern: "^a" }, "string"],
    ["a whole number", { type: "integer", minimum: 0 }, "number"],
    ["one that may be null", { type: ["number", "null"] }, "number | null"],
    ["one of values", { enum: ["ready", "failed"] }, '"ready" | "failed"'],
    ["one value", { const: 1 }, "1"],
    ["another schema", { $ref: "#/components/schemas/Problem" }, "Problem"],
    ["choices that are one type", { anyOf: [{ type: "number" }, { type: "integer" }] }, "number"],
    ["a list", { type: "array", items: { enum: ["a", "b"] } }, 'readonly ("a" | "b")[]'],
    ["a map", { type: "object", additionalProperties: { type: "string" } }, "{\n  readonly [name: string]: string;\n}"],
    ["an object of anything", { type: "object" }, "{\n  readonly [name: string]: unknown;\n}"],
    ["an object of nothing", { type: "object", additionalProperties: false }, "Record<string, never>"],
    [
      "an object",
      {
        type: "object",
        required: ["name"],
        additionalProperties: false,
        properties: { name: { type: "string", description: "Ends */ early." }, "x-y": { type: "boolean" } },
      },
      '{\n  /** Ends *\\/ early. */\n  readonly name: string;\n  readonly "x-y"?: boolean;\n}',
    ],
  ])("%s", (_, schema, type) => {
    expect(typeOf(schema)).toBe(type);
  });

  test("a keyword that is not known is an error, because it may change the type", () => {
    expect(() => typeOf({ type: "string", not: { const: "a" } })).toThrow("'not'");
  });
});

import { describe, expect, test } from "@jest/globals";
import { Type } from "typebox";
import { fieldsOf } from "../../../../api/input/fields.ts";

const schema = Type.Object({
  count: Type.Integer(),
  flag: Type.Boolean(),
  text: Type.String(),
  object: Type.Object({}),
});

describe("fieldsOf", () => {
  test.each([
    ["count=7&flag=true&text=7&object=%7B%22a%22%3A1%7D", { count: 7, flag: true, text: "7", object: { a: 1 } }],
    ["count=-7&flag=false", { count: -7, flag: false }],
    ["count=007", { count: 7 }],
    ["count=0x10", { count: "0x10" }],
    ["count=1e3", { count: "1e3" }],
    ["count=+7", { count: " 7" }],
    ["count=9999999999999999", { count: "9999999999999999" }],
    ...["true", "TRUE", "1", "on", "On", "yes"].map((word) => [`flag=${word}`, { flag: true }] as const),
    ...["false", "False", "0", "off", "OFF", "no"].map((word) => [`flag=${word}`, { flag: false }] as const),
    ...["2", "01", "y", "t", "+on", "true,true"].map(
      (word) => [`flag=${word}`, { flag: word.replace("+", " ") }] as const,
    ),
    ["unknown=1", { unknown: "1" }],
    ["count=&flag=&object=", {}],
    ["", {}],
  ])("reads the form %s", (encoded, expected) => {
    expect(fieldsOf(encoded, schema, "form")).toEqual(expected);
  });

  test("keeps an empty text of a form and drops that of a query", () => {
    expect(fieldsOf("text=", schema, "form")).toEqual({ text: "" });
    expect(fieldsOf("text=", schema, "query")).toEqual({});
  });

  test("makes an own field of a name that reaches for a prototype", () => {
    const fields = fieldsOf("__proto__=1", schema, "form");
    expect(Object.keys(fields)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
  });

  test.each(["a=1&a=2", "a&a", `x${"&y".repeat(100)}`, "object={", `object=${"[".repeat(40)}`])(
    "refuses %s",
    (encoded) => {
      expect(() => fieldsOf(encoded, schema, "form")).toThrow();
    },
  );
});

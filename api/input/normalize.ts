import type { TSchema } from "typebox";

interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly additionalProperties?: Shape | boolean;
  readonly "x-number-as-text"?: boolean;
}

/**
 * Normalizes a body before validation: removes an optional `null`, which serializers write for a field without a value;
 * turns a whole number into digits where the schema says so (`x-number-as-text`). Any other `null` stays, and the
 * schema refuses it.
 */
export function asMeant(value: unknown, schema: TSchema): unknown {
  return meant(value, schema as Shape);
}

function meant(value: unknown, shape: Shape): unknown {
  if (Number.isSafeInteger(value) && shape["x-number-as-text"]) return String(value);
  if (typeof value !== "object" || value === null) return value;
  const { properties = {}, required = [], items = {}, additionalProperties } = shape;
  if (Array.isArray(value)) return value.map((item) => meant(item, items));
  const others = typeof additionalProperties === "object" ? additionalProperties : {};
  const shapeOf = (name: string) => (Object.hasOwn(properties, name) ? (properties[name] as Shape) : others);
  const isAbsent = (name: string, field: unknown) =>
    field === null && Object.hasOwn(properties, name) && !required.includes(name);
  const fields = Object.entries(value).filter(([name, field]) => !isAbsent(name, field));
  return Object.fromEntries(fields.map(([name, field]) => [name, meant(field, shapeOf(name))]));
}

const ISO_8601 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

/** The type of a value in the words of the specification's tables; objects and lists by their parts. */
export type Shape = string | readonly Shape[] | { readonly [field: string]: Shape };

/** The shape of a reply: of a list by its first item, of a timestamp by its form. */
export function shapeOf(value: unknown): Shape {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([field, part]) => [field, shapeOf(part)]));
  }
  if (typeof value === "string") return ISO_8601.test(value) ? "ISO 8601" : "string";
  if (Number.isInteger(value)) return "integer";
  return value === null ? "null" : typeof value;
}

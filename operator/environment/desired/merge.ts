/** Values as JSON knows them. */
type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/**
 * The layers, one over the other: objects merge, everything else replaces. Keys come in their order, so that the same
 * values read the same however they were written; no key means anything to JavaScript, `__proto__` neither.
 */
export function merge(...layers: readonly JsonObject[]): JsonObject {
  return layers.reduce(merged, {});
}

/** An object that holds the value at the path alone. */
export function nested(path: readonly string[], value: Json): JsonObject {
  const [key = "", ...rest] = path;
  return Object.fromEntries([[key, rest.length === 0 ? value : nested(rest, value)]]);
}

function merged(below: JsonObject, above: JsonObject): JsonObject {
  const keys = [...new Set([...Object.keys(below), ...Object.keys(above)])].sort();
  return Object.fromEntries(keys.map((key) => [key, one(own(below, key), own(above, key))]));
}

function one(below: Json | undefined, above: Json | undefined): Json | undefined {
  if (above === undefined) return below;
  // Alone, it is still put in order.
  return isObject(above) ? merged(isObject(below) ? below : {}, above) : above;
}

const own = (object: JsonObject, key: string) => (Object.hasOwn(object, key) ? object[key] : undefined);

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

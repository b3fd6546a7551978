import type { Json, JsonObject } from "../../../../crds/json.ts";

/**
 * Merges the layers, later over earlier: objects merge, other values replace. Keys are sorted, so equal values have
 * equal text. `__proto__` is a key like any other.
 */
export function merge(...layers: readonly JsonObject[]): JsonObject {
  return layers.reduce(merged, {});
}

/** An object with the value at the path and nothing else. */
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
  // Merged even alone, for the order of its keys.
  return isObject(above) ? merged(isObject(below) ? below : {}, above) : above;
}

const own = (object: JsonObject, key: string) => (Object.hasOwn(object, key) ? object[key] : undefined);

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

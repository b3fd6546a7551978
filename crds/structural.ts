/**
 * Turns a JSON Schema (TypeBox) into the structural schema of a CustomResourceDefinition, see
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
type Schema = object;

const KEPT = new Set([
  "type",
  "description",
  "format",
  "default",
  "enum",
  "title",
  "nullable",
  "pattern",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
]);
const CONVERTED = new Set(["properties", "required", "items", "additionalProperties"]);

/** @throws Error with the place of a keyword that a structural schema does not support */
export function structural(schema: Schema, path = "$"): Schema {
  const result: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (KEPT.has(keyword) || keyword.startsWith("x-kubernetes-")) result[keyword] = value;
    else if (!CONVERTED.has(keyword)) throw new Error(`${path}: keyword '${keyword}' has no structural form`);
  }
  if (result.type === undefined) throw new Error(`${path}: a structural schema needs a type`);
  return { ...result, ...nested(schema, path) };
}

function nested(schema: Schema, path: string): Schema {
  const { properties, required, items, additionalProperties } = schema as Nested;
  const child = ([name, value]: [string, Schema]) => [name, structural(value, `${path}.${name}`)];
  const map = mapOf(additionalProperties, Object.keys(properties ?? {}), path);
  return {
    ...(properties && map === undefined
      ? { properties: Object.fromEntries(Object.entries(properties).map(child)) }
      : {}),
    ...(map === undefined ? {} : { additionalProperties: map }),
    ...(required?.length ? { required } : {}),
    ...(items ? { items: structural(items, `${path}[]`) } : {}),
  };
}

interface Nested {
  readonly properties?: Record<string, Schema>;
  readonly required?: string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

/** The API server prunes unknown fields, which is what `false` means. */
function mapOf(values: Schema | boolean | undefined, fields: readonly string[], path: string): Schema | undefined {
  if (values === undefined || values === false) return undefined;
  if (values === true) throw new Error(`${path}: unknown fields are kept by x-kubernetes-preserve-unknown-fields only`);
  if (fields.length > 0) throw new Error(`${path}: both fields and a map have no structural form`);
  return structural(values as Schema, `${path}.*`);
}

/**
 * Turns a JSON Schema (TypeBox) into the structural schema of a CustomResourceDefinition.
 * See https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
type Schema = object;

const KEPT = new Set([
  ...["type", "description", "format", "default", "enum", "title", "nullable", "pattern"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  ...["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"],
]);
/** Converted below, or (`additionalProperties: false`) said by the API server in its own way: it prunes. */
const CONVERTED = new Set(["properties", "required", "items", "additionalProperties"]);

/** Throws, naming the place, on what a structural schema can't say: nothing is dropped in silence. */
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
  const { properties, required, items } = schema as {
    properties?: Record<string, Schema>;
    required?: string[];
    items?: Schema;
  };
  const child = ([name, value]: [string, Schema]) => [name, structural(value, `${path}.${name}`)];
  return {
    ...(properties ? { properties: Object.fromEntries(Object.entries(properties).map(child)) } : {}),
    ...(required?.length ? { required } : {}),
    ...(items ? { items: structural(items, `${path}[]`) } : {}),
  };
}

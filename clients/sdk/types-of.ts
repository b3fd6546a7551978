/** TypeScript types for OpenAPI 3.1, as `api/openapi.json` uses it. */

/** A schema of JSON Schema 2020-12. */
export interface Schema {
  readonly [keyword: string]: unknown;
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly description?: string;
}

const KNOWN = new Set([
  "$ref",
  "type",
  "const",
  "enum",
  "anyOf",
  "oneOf",
  "allOf",
  "items",
  "properties",
  "required",
  "additionalProperties",
  "description",
  "examples",
  "default",
  "format",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "propertyNames",
  "multipleOf",
  "title",
]);

/** Type of the schema's values. @throws Error for an unknown keyword, which might change the type */
export function typeOf(schema: Schema, indent = ""): string {
  const unknown = Object.keys(schema).find((word) => !KNOWN.has(word) && !word.startsWith("x-"));
  if (unknown !== undefined) throw new Error(`no type is known for the keyword '${unknown}'`);
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return unionOf(choices, indent);
  if (schema.allOf !== undefined) return schema.allOf.map((part) => `(${typeOf(part, indent)})`).join(" & ");
  const names = schema.type === undefined ? [] : [schema.type].flat();
  return names.length === 0 ? "unknown" : names.map((name) => namedType(name as string, schema, indent)).join(" | ");
}

/** Several parts may be one type: a number and an integer. */
const unionOf = (parts: readonly Schema[], indent: string) =>
  [...new Set(parts.map((part) => typeOf(part, indent)))].join(" | ");

function namedType(name: string, schema: Schema, indent: string): string {
  if (name === "integer") return "number";
  if (name === "array") return `readonly (${typeOf(schema.items ?? {}, indent)})[]`;
  return name === "object" ? objectType(schema, indent) : name;
}

function objectType({ properties = {}, required = [], additionalProperties }: Schema, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(([name, value]) => {
    const mark = required.includes(name) ? "" : "?";
    return `${docOf(value, inner)}${inner}readonly ${keyOf(name)}${mark}: ${typeOf(value, inner)};\n`;
  });
  const others = othersOf(additionalProperties, lines.length > 0, inner);
  if (others !== undefined) lines.push(`${inner}readonly [name: string]: ${others};\n`);
  return lines.length === 0 ? "Record<string, never>" : `{\n${lines.join("")}${indent}}`;
}

/** Type of properties without a name. An index signature covers the named ones, too. */
function othersOf(allowed: Schema["additionalProperties"], hasNamed: boolean, indent: string): string | undefined {
  if (typeof allowed === "object") return hasNamed ? "unknown" : typeOf(allowed, indent);
  return allowed === true || (allowed === undefined && !hasNamed) ? "unknown" : undefined;
}

const keyOf = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

/** Comment with the schema's description, and none without. */
export function docOf({ description }: Pick<Schema, "description">, indent: string): string {
  if (description === undefined) return "";
  return `${indent}/** ${description.replaceAll("*/", "*\\/").replaceAll("\n", " ")} */\n`;
}

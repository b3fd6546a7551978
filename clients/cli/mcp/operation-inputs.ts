/** Inputs of operations in the OpenAPI document, as one JSON Schema each: tools have one object of arguments. */
import type { Document } from "../../sdk/operations.ts";
import type { Schema } from "../../sdk/types-of.ts";

type Place = "path" | "query" | "body";

/** Arguments of an operation. */
export interface OperationInput {
  readonly description: string;
  readonly schema: Schema;
  readonly places: Readonly<Record<string, Place>>;
}

interface Field {
  readonly name: string;
  readonly place: Place;
  readonly required: boolean;
  readonly schema: Schema;
}

/** Inputs of those routes (`GET /api/v2/environments`). @throws Error for one that the document lacks */
export function inputsOf(document: Document, routes: readonly string[]): Record<string, OperationInput> {
  return Object.fromEntries(routes.map((route) => [route, inputOf(document, route)]));
}

function inputOf(document: Document, route: string): OperationInput {
  const [method = "", path = ""] = route.split(" ");
  const operation = document.paths[path]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`the document has no ${route}`);
  const parameters = (operation.parameters ?? []).filter((one) => one.in === "path" || one.in === "query");
  const body = resolved(document, operation.requestBody?.content["application/json"]?.schema ?? {});
  const fields: Field[] = [
    ...parameters.map(({ name, in: place, required = false, schema, description }) => ({
      name,
      required,
      place: place as Place,
      schema: description === undefined ? schema : { ...schema, description },
    })),
    ...Object.entries(body.properties ?? {}).map(([name, schema]) => ({
      name,
      schema,
      place: "body" as const,
      required: body.required?.includes(name) ?? false,
    })),
  ];
  return {
    description: (operation as { readonly description?: string }).description ?? operation.summary,
    schema: {
      type: "object",
      additionalProperties: false,
      required: fields.filter(({ required }) => required).map(({ name }) => name),
      properties: Object.fromEntries(fields.map(({ name, schema }) => [name, resolved(document, schema)])),
    },
    places: Object.fromEntries(fields.map(({ name, place }) => [name, place])),
  };
}

/** Schema without references, examples and the platform's own keywords. */
function resolved(document: Document, schema: Schema): Schema {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
    const { $ref: _, ...own } = schema;
    return { ...resolved(document, document.components.schemas[name] ?? {}), ...own };
  }
  return mapped(schema, (part) => resolved(document, part));
}

const NAMED = new Set(["properties", "patternProperties"]);
const LISTED = new Set(["anyOf", "oneOf", "allOf"]);
const SINGLE = new Set(["items", "additionalProperties", "propertyNames"]);

function mapped(schema: Schema, change: (part: Schema) => Schema): Schema {
  const known = Object.entries(schema).filter(([word]) => !/^(x-|examples$|format$)/.test(word));
  return Object.fromEntries(
    known.map(([word, value]) => {
      if (NAMED.has(word)) return [word, mapValues(value as Record<string, Schema>, change)];
      if (LISTED.has(word)) return [word, (value as Schema[]).map(change)];
      return [word, SINGLE.has(word) && typeof value === "object" ? change(value as Schema) : value];
    }),
  );
}

const mapValues = (schemas: Record<string, Schema>, change: (part: Schema) => Schema) =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, change(schema)]));

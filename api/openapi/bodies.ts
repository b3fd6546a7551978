import { isRaw } from "../input/raw-body.ts";
import type { Contract } from "../route.ts";
import { exampleOf } from "./examples.ts";
import { type Components, component, type Json } from "./schemas.ts";

/** Body of an operation: JSON, and a form where the route takes it. */
export function requestBody({ body, forms }: Contract, components: Components): Json {
  const schema = body as Json;
  const example = exampleOf(schema);
  const isNeeded = isRaw(body) || "minProperties" in schema;
  const required = isNeeded || ((schema.required as string[] | undefined)?.length ?? 0) > 0;
  return {
    required,
    content: {
      "application/json": { schema: component(schema, components), example },
      ...(forms ? { "application/x-www-form-urlencoded": { schema: formOf(schema), example } } : {}),
    },
  };
}

/**
 * The same fields in words. With one schema for both, openapi-python-client sends JSON as a form; with a second schema
 * of its own fields, openapi-generator leaves the class out and uses it still
 * (https://github.com/OpenAPITools/openapi-generator/issues/11730).
 */
const formOf = ({ title }: Json): Json => ({
  type: "object",
  additionalProperties: true,
  description: `The fields of ${title} by the same names, and objects as JSON.`,
});

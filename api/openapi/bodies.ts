import type { Contract } from "../route.ts";
import { exampleOf } from "./examples.ts";
import { type Components, component, type Json } from "./schemas.ts";

/** The body of an operation that has one: JSON, and the same as a form where the route takes it. */
export function requestBody({ body, forms }: Contract, components: Components): Json {
  const schema = body as Json;
  const described = (shown: Json) => ({ schema: component(shown, components), example: exampleOf(schema) });
  const required = ((schema.required as string[] | undefined)?.length ?? 0) > 0 || "minProperties" in schema;
  return {
    required,
    content: {
      "application/json": described(schema),
      ...(forms ? { "application/x-www-form-urlencoded": described(asForm(schema)) } : {}),
    },
  };
}

/**
 * The schema of the same fields in a form, which has texts only, so that objects stand in them as JSON. It has a name of
 * its own: a generated client tells by the class of a body how to encode it.
 */
function asForm(schema: Json): Json {
  const fields = Object.entries(schema.properties as Record<string, Json>).map(([name, field]) => [
    name,
    field.type === "object" ? jsonText(`The field ${name} of ${schema.title}, as JSON.`) : field,
  ]);
  const title = String(schema.title).replace(/Request$/, "Form");
  return { ...schema, title, properties: Object.fromEntries(fields) };
}

const jsonText = (description: string): Json => ({ type: "string", contentMediaType: "application/json", description });

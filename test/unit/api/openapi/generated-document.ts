import { openApiDocument } from "../../../../api/openapi/document.ts";
import { listRoutes } from "../../../../api/routes.ts";

/** Any object of the document. */
export type Json = Readonly<Record<string, unknown>>;
/** The fields of an operation that tests read. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly security: unknown[];
  readonly parameters: Json[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Json>> };
  readonly responses: Readonly<
    Record<string, { headers: Json; content: Readonly<Record<string, Json>>; links?: Record<string, Link> }>
  >;
}
interface Link {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, string>>;
}

interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly tags: readonly Json[];
}

const written = openApiDocument(listRoutes()) as OpenApiDocument;

/** The OpenAPI document of all routes, with replies in place of references. */
export const document: OpenApiDocument = {
  ...written,
  paths: mapped(written.paths, (item) =>
    mapped(item, (operation) => ({
      ...operation,
      responses: mapped(operation.responses, (reply) => resolved(reply) as typeof reply),
    })),
  ),
};
/** Operations with method and path. */
export const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ name: `${method} ${path}`, path, operation })),
);

/** The object behind a reference; anything else unchanged. */
export function resolved(part: Json): Json {
  if (typeof part.$ref !== "string") return part;
  const keys = part.$ref.replace("#/", "").split("/");
  return keys.reduce<unknown>((parent, key) => (parent as Json)?.[key], written) as Json;
}

function mapped<Value, Result>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value) => Result,
): Readonly<Record<string, Result>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}

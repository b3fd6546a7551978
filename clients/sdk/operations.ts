/** Operations of version 2 in the OpenAPI document, as one type. */
import { docOf, type Schema, typeOf } from "./types-of.ts";

/** An OpenAPI document, as far as it is used here. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Operation {
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema: Schema; readonly "x-event-data"?: Schema }>>;

const JSON_TYPE = "application/json";
const STREAM_TYPE = "text/event-stream";
const INDENT = "    ";

/** The whole file: a type for each schema, one for all operations, and those that may be repeated with a key. */
export function typesOfDocument(document: Document): string {
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) => `${docOf(schema, "")}export type ${name} = ${typeOf(schema)};\n`,
  );
  const all = Object.entries(document.paths)
    .filter(([path]) => path.startsWith("/api/v2/"))
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ route: `${method.toUpperCase()} ${path}`, operation })),
    );
  const keyed = all.filter(({ operation }) =>
    (operation.parameters ?? []).some(({ name }) => name === "Idempotency-Key"),
  );
  return [
    "// Written from api/openapi.json by clients/sdk/generate.ts: run 'make generate' after a change.\n\n",
    schemas.join("\n"),
    "\n/** Input and output of each operation. */\nexport interface Operations {\n",
    all.map(operationType).join(""),
    "}\n",
    "\n/** Operations that take an Idempotency-Key, for safe repetitions. */\n",
    `export const KEYED: ReadonlySet<string> = new Set(${JSON.stringify(keyed.map(({ route }) => route))});\n`,
  ].join("");
}

function operationType({ route, operation }: { readonly route: string; readonly operation: Operation }): string {
  const parameters = (operation.parameters ?? []).filter(({ $ref }) => $ref === undefined);
  const inputs = ["path", "query"].flatMap((place) => {
    const own = parameters.filter((parameter) => parameter.in === place);
    return own.length === 0 ? [] : [`${INDENT}readonly ${place}${optional(own)}: ${typeOf(asObject(own), INDENT)};\n`];
  });
  const body = operation.requestBody?.content[JSON_TYPE]?.schema;
  if (body !== undefined) {
    const mark = operation.requestBody?.required === true ? "" : "?";
    inputs.push(`${INDENT}readonly body${mark}: ${typeOf(body, INDENT)};\n`);
  }
  return `  /** ${operation.summary} */\n  readonly ${JSON.stringify(route)}: {\n${inputs.join("")}${answerOf(operation)}  };\n`;
}

const optional = (parameters: readonly Parameter[]) =>
  parameters.some(({ required }) => required === true) ? "" : "?";

const asObject = (parameters: readonly Parameter[]): Schema => ({
  type: "object",
  additionalProperties: false,
  required: parameters.filter(({ required }) => required === true).map(({ name }) => name),
  properties: Object.fromEntries(
    parameters.map(({ name, schema, description }) => [
      name,
      description === undefined ? schema : { ...schema, description },
    ]),
  ),
});

/** Content of its envelope, or of each of its events. */
function answerOf({ responses }: Operation): string {
  const content = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1].content ?? {};
  const event = content[STREAM_TYPE]?.["x-event-data"];
  if (event !== undefined) return `${INDENT}readonly event: ${typeOf(event, INDENT)};\n`;
  const schema = content[JSON_TYPE]?.schema ?? {};
  return `${INDENT}readonly reply: ${typeOf(schema.properties?.data ?? schema, INDENT)};\n`;
}

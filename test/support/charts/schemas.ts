import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { apiClient } from "../../../deploy/local/kubernetes/api-client.ts";
import { until } from "../fixtures/until.ts";
import type { Callable } from "../plane/api-calls.ts";

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly "x-kubernetes-group-version-kind"?: readonly Gvk[];
  readonly [keyword: string]: unknown;
}

interface Gvk {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Pattern of the files of `writeSchemas`, for kubeconform's option -schema-location. */
export const schemaLocation = (folder: string): string =>
  join(folder, "{{ .Group }}_{{ .ResourceKind }}_{{ .ResourceAPIVersion }}.json");

/**
 * Writes a JSON Schema for each kind that the API server serves, custom ones included, from its OpenAPI document. Unknown
 * fields are refused, as the API server does on request. Waits for the description of the last created group, `last`.
 */
export async function writeSchemas(
  { url, caFile, adminToken: token }: Callable,
  { folder, last }: { readonly folder: string; readonly last: string },
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const client = apiClient({ url, caFile, token });
  const read = async <T>(path: string) => JSON.parse((await client.call("GET", path)).body) as T;
  const described = async () => {
    const { paths } = await read<{ paths: Record<string, { serverRelativeURL: string }> }>("/openapi/v3");
    return Object.keys(paths).some((path) => path.startsWith(`apis/${last}/`)) ? paths : undefined;
  };
  const paths = await until(described, { what: `the group ${last} to be described` });
  for (const { serverRelativeURL } of Object.values(paths)) {
    const { components } = await read<{ components?: { schemas?: Schemas } }>(serverRelativeURL);
    await writeKinds(components?.schemas ?? {}, folder);
  }
  client.close();
}

type Schemas = Readonly<Record<string, Schema>>;

async function writeKinds(schemas: Schemas, folder: string): Promise<void> {
  const strict = Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, closed(schema) as Schema]));
  for (const [name, schema] of Object.entries(strict)) {
    const own = schema["x-kubernetes-group-version-kind"] ?? [];
    // Definitions shared by several kinds, such as DeleteOptions, are no objects.
    const [{ group, version, kind } = { group: "", version: "", kind: "" }] = own;
    if (own.length !== 1) continue;
    const document = { $ref: `#/components/schemas/${name}`, components: { schemas: strict } };
    // kubeconform takes the text before the slash as the group: for the core group, that is its version.
    await writeFile(
      join(folder, `${group || version}_${kind.toLowerCase()}_${version}.json`),
      JSON.stringify(document),
    );
  }
}

/** Closes a schema to unknown fields, unless it defines additional ones itself. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, closed(part)]));
  const isOpen =
    parts.properties === undefined ||
    parts.additionalProperties !== undefined ||
    parts["x-kubernetes-preserve-unknown-fields"] === true;
  return isOpen ? parts : { ...parts, additionalProperties: false };
}

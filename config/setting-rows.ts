import type { TSchema } from "typebox";

/** A line of the table of settings, in Markdown except the path. */
export interface SettingRow {
  /** Path such as `api.issuers[].audience`. */
  readonly path: string;
  readonly type: string;
  readonly fallback: string;
  readonly meaning: string;
}

interface SettingSchema {
  readonly type?: string;
  /** Name of a type that is described elsewhere. */
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: string | number | boolean;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly SettingSchema[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SettingSchema>>;
  readonly patternProperties?: Readonly<Record<string, SettingSchema>>;
  readonly additionalProperties?: boolean | SettingSchema;
  readonly items?: SettingSchema;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Row for each setting, parts after their whole. */
export function settingRows(schema: TSchema): SettingRow[] {
  return partsOf(schema as SettingSchema, "");
}

function rowsOf(path: string, schema: SettingSchema, isRequired: boolean): SettingRow[] {
  const parts = partsOf(schema, path);
  const isGroup = parts.length > 0 && schema.type === "object" && isFilled(schema.default);
  if (isGroup && schema.description === undefined) return parts;
  const type = typeOf(schema);
  const fallback = isGroup ? "" : fallbackOf(schema, isRequired);
  return [{ path, type, fallback, meaning: schema.description ?? "" }, ...parts];
}

function partsOf(schema: SettingSchema, path: string): SettingRow[] {
  if (schema.title !== undefined) return [];
  const { properties = {}, required = [], items, anyOf = [] } = schema;
  const at = (name: string) => (path === "" ? name : `${path}.${name}`);
  return [
    ...Object.entries(properties).flatMap(([name, part]) => rowsOf(at(name), part, required.includes(name))),
    ...named(schema).flatMap((part) => partsOf(part, at("<name>"))),
    ...(items === undefined ? [] : partsOf(items, `${path}[]`)),
    ...variants(anyOf, path),
  ];
}

function named({ patternProperties = {}, additionalProperties }: SettingSchema): SettingSchema[] {
  const more = typeof additionalProperties === "object" ? [additionalProperties] : [];
  return [...Object.values(patternProperties), ...more];
}

/** Parts of each shape that a setting may have; those of a kind name it. */
function variants(anyOf: readonly SettingSchema[], path: string): SettingRow[] {
  return anyOf.flatMap((one) => {
    const kind = one.properties?.kind?.const;
    const rows = partsOf(one, path).filter((row) => row.path !== `${path}.kind`);
    if (kind === undefined) return rows;
    return rows.map((row) => ({ ...row, meaning: `With \`kind: ${kind}\`. ${row.meaning}`.trimEnd() }));
  });
}

function typeOf(schema: SettingSchema): string {
  const { title, anyOf, enum: values } = schema;
  if (title !== undefined) return title;
  if (anyOf !== undefined) return unionOf(anyOf);
  return values === undefined ? plainTypeOf(schema) : values.map(code).join(", ");
}

function plainTypeOf(schema: SettingSchema): string {
  const { const: only, type = "anything", items = {} } = schema;
  if (only !== undefined) return code(only);
  if (type === "array") return `list of ${typeOf(items)}`;
  if (type === "object") return named(schema).length > 0 ? "map" : "object";
  return `${type}${boundsOf(schema)}`;
}

function unionOf(anyOf: readonly SettingSchema[]): string {
  const kinds = anyOf.map(({ properties }) => properties?.kind?.const).filter((kind) => kind !== undefined);
  if (kinds.length > 0) return `object, by its \`kind\`: ${kinds.map(code).join(", ")}`;
  return [...new Set(anyOf.map(typeOf))].join(", ");
}

function boundsOf({ minimum, maximum }: SettingSchema): string {
  if (minimum !== undefined && maximum !== undefined) return ` ${minimum}–${maximum}`;
  if (minimum !== undefined) return ` ≥ ${minimum}`;
  return maximum === undefined ? "" : ` ≤ ${maximum}`;
}

function fallbackOf(schema: SettingSchema, isRequired: boolean): string {
  if (schema.default !== undefined) return code(schema.default);
  return isRequired ? "**Required**" : "";
}

function isFilled(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function code(value: unknown): string {
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}

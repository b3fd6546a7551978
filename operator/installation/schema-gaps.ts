/** Field-declaring part of a Kubernetes schema. */
export interface FieldSchema {
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly additionalProperties?: FieldSchema | boolean;
  readonly items?: FieldSchema;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
}

/**
 * Fields of `wanted` missing in `served`, as paths: `status.sources.backend`. Children of a missing field are not
 * named. Additional fields of `served` are no gap.
 */
export function schemaGaps(wanted: FieldSchema, served: FieldSchema, path = ""): string[] {
  if (served["x-kubernetes-preserve-unknown-fields"] === true) return [];
  const at = (name: string) => (path === "" ? name : `${path}.${name}`);
  const fields = Object.entries(wanted.properties ?? {}).flatMap(([name, field]) => {
    const found = served.properties?.[name];
    return found === undefined ? [at(name)] : schemaGaps(field, found, at(name));
  });
  return [
    ...fields,
    ...partGaps(wanted.items, served.items, `${path}[]`),
    ...partGaps(mapOf(wanted), mapOf(served), at("*")),
  ];
}

function partGaps(wanted: FieldSchema | undefined, served: FieldSchema | undefined, path: string): string[] {
  if (wanted === undefined) return [];
  return served === undefined ? [path] : schemaGaps(wanted, served, path);
}

function mapOf({ additionalProperties }: FieldSchema): FieldSchema | undefined {
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}

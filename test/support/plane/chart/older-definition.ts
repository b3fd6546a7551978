import { GROUP } from "../../../../crds/group.ts";
import { until } from "../../fixtures/until.ts";
import type { ApiCalls } from "../../http/api-calls.ts";

interface Schema {
  readonly properties: Record<string, Schema>;
  required?: string[];
}

interface Version {
  readonly schema: { readonly openAPIV3Schema: Schema };
}

/**
 * Has the API server serve a kind as an older or newer release defined it: `change` is given the schema of the object.
 * The returned function brings back what was there.
 */
export async function changedDefinition(
  admin: ApiCalls,
  plural: string,
  change: (schema: Schema) => void,
): Promise<() => Promise<void>> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${GROUP}`;
  const { object } = await admin.get(path);
  const { versions } = (object as unknown as { spec: { versions: Version[] } }).spec;
  const changed = structuredClone(versions);
  for (const { schema } of changed) change(schema.openAPIV3Schema);
  await put(admin, path, changed);
  return () => put(admin, path, versions);
}

/** Written, and by then served: the condition is about what the API server does with objects, not about what it has stored. */
async function put(admin: ApiCalls, path: string, versions: readonly Version[]): Promise<void> {
  const reply = await admin.patch(path, { spec: { versions } });
  if (reply.status !== 200) throw new Error(`the definition was refused: ${reply.message}`);
  const isEstablished = async () => {
    const { object } = await admin.get(path);
    const { conditions = [] } = object.status as { conditions?: { type: string; status: string }[] };
    return conditions.some(({ type, status }) => type === "Established" && status === "True");
  };
  await until(isEstablished, { what: "the changed definition" });
}

/** The part of a schema at the place that properties lead to. */
export function schemaAt(schema: Schema, ...path: readonly string[]): Schema {
  return path.reduce((at, name) => at.properties[name] as Schema, schema);
}

import { createKubeClient } from "../../../../operator/kit/client/create-kube-client.ts";
import { insteadOf, isUnavailable } from "../../../../operator/kit/client/errors.ts";
import type { KubeClient } from "../../../../operator/kit/client/kube-client.ts";
import type { KubeObject, ResourceType } from "../../../../operator/kit/client/objects.ts";
import { kubeConfigOf } from "../../fixtures/kube-config.ts";
import { until } from "../../fixtures/until.ts";
import type { Callable } from "../api-calls.ts";
import { administrator } from "../people.ts";

interface Schema {
  readonly properties: Record<string, Schema>;
  required?: string[];
}

interface Version {
  readonly schema: { readonly openAPIV3Schema: Schema };
}

/** The API server ends the watches of an older definition a second after it has read the newer one. */
const LONGEST_CHANGE_SECONDS = 60;

/**
 * Redefines a kind as in an older or newer release: `change` gets the schema of the object. Afterwards requests use that
 * definition, and no earlier watch remains. The returned function restores the definition in the same way.
 */
export async function changedDefinition<T extends KubeObject>(
  plane: Callable,
  type: ResourceType<T>,
  change: (schema: Schema) => void,
): Promise<() => Promise<void>> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${type.plural}.${type.group}`;
  const { object } = await administrator(plane).get(path);
  const { versions } = (object as unknown as { spec: { versions: Version[] } }).spec;
  const changed = structuredClone(versions);
  for (const { schema } of changed) change(schema.openAPIV3Schema);
  const put = async (published: readonly Version[]) => {
    const client = createKubeClient({ kubeConfig: kubeConfigOf(plane, plane.adminToken) });
    try {
      const isOver = await watchToItsEnd(client, type);
      const reply = await administrator(plane).patch(path, { spec: { versions: published } });
      if (reply.status !== 200) throw new Error(`the definition was refused: ${reply.message}`);
      await isOver();
    } finally {
      await client.close();
    }
  };
  await put(changed);
  return () => put(versions);
}

/** Begins a watch; the returned function waits until the API server ends it. */
async function watchToItsEnd(client: KubeClient, type: ResourceType): Promise<() => Promise<void>> {
  const signal = AbortSignal.timeout(LONGEST_CHANGE_SECONDS * 1000);
  const begun = async () => {
    const events = client.watch(type, { timeoutSeconds: 2 * LONGEST_CHANGE_SECONDS, signal })[Symbol.asyncIterator]();
    await events.next();
    return events;
  };
  // After a recent change, the API server fills its cache of the kind, and answers 429 meanwhile.
  const events = await until(() => begun().catch(insteadOf(isUnavailable, undefined)), { what: "a watch of the kind" });
  return async () => {
    while ((await events.next()).done !== true);
    if (signal.aborted) throw new Error(`the older definition was in force for ${LONGEST_CHANGE_SECONDS} s`);
  };
}

/** The part of a schema at this path of properties. */
export function schemaAt(schema: Schema, ...path: readonly string[]): Schema {
  return path.reduce((at, name) => at.properties[name] as Schema, schema);
}

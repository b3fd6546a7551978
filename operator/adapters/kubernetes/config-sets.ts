import type { ConfigSet, ConfigSetSpec } from "../../../crds/config-set.ts";
import { CREATED_BY_ANNOTATION } from "../../../crds/group.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../../kit/client/errors.ts";
import { retryOnConflict } from "../../kit/client/retry-on-conflict.ts";
import type { ConfigSets } from "../../ports/config-sets.ts";
import { configSetType } from "./kinds.ts";
import { auditAnnotations, auditOperations, type Store } from "./store.ts";
import { complete, forUser } from "./user-request.ts";

type Context = Omit<Store<ConfigSet>, "clock">;

/** The ConfigSets port on the Kubernetes API and this process's watch cache of the platform's namespace. */
export function kubernetesConfigSets(context: Context): ConfigSets {
  const { cache, namespace } = context;
  return {
    find: (name) => complete(cache).get(`${namespace}/${name}`),
    list: () => complete(cache).list(),
    create: (name, spec, by) => forUser(() => create(context, { name, spec, by })),
    replace: (configSet, spec) => forUser(() => replace(context, configSet, spec)),
    remove: (configSet) => forUser(() => remove(context, configSet)),
  };
}

async function create(
  { client, cache, namespace, auditId }: Context,
  { name, spec, by }: { name: string; spec: ConfigSetSpec; by: string },
): Promise<ConfigSet | "taken"> {
  const annotations = { [CREATED_BY_ANNOTATION]: by, ...auditAnnotations(auditId) };
  const metadata = { name, namespace, annotations };
  try {
    const created = await client.create(configSetType, { metadata, spec });
    cache.written(created);
    return created;
  } catch (error) {
    if (isAlreadyExists(error)) return "taken";
    throw error;
  }
}

/** Replaces a version that was read: a change in between is seen, and replaced, too. */
async function replace(
  { client, cache, namespace, auditId }: Context,
  configSet: ConfigSet,
  spec: ConfigSetSpec,
): Promise<ConfigSet | "gone"> {
  const { name, uid } = configSet.metadata;
  const ref = { name, namespace };
  return retryOnConflict(async (round) => {
    const current = round === 1 ? configSet : await client.find(configSetType, ref);
    if (current?.metadata.uid !== uid) return "gone";
    const version = { op: "replace", path: "/metadata/resourceVersion", value: current.metadata.resourceVersion };
    const stamp = auditOperations(current, auditId);
    const patch = [version, { op: "replace", path: "/spec", value: spec }, ...stamp];
    try {
      const changed = await client.patch(configSetType, ref, patch, { as: "json" });
      cache.written(changed);
      return changed;
    } catch (error) {
      if (isNotFound(error)) return "gone";
      throw error;
    }
  });
}

async function remove({ client, cache, namespace, deletions }: Context, configSet: ConfigSet): Promise<void> {
  const { name, uid } = configSet.metadata;
  try {
    const left = await deletions.during(uid, () => client.delete(configSetType, { name, namespace }, { uid }));
    if (left !== "gone") cache.written(left);
    else cache.deleted(configSet);
  } catch (error) {
    // Another config set has the name by now.
    if (!isConflict(error)) throw error;
    cache.deleted(configSet);
  }
}

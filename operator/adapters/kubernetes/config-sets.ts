import type { ConfigSet, ConfigSetSpec } from "../../../crds/config-set.ts";
import { CREATED_BY_ANNOTATION } from "../../../crds/group.ts";
import { insteadOf, isAlreadyExists, isConflict, isNotFound } from "../../kit/client/errors.ts";
import { retryOnConflict } from "../../kit/client/retry-on-conflict.ts";
import type { ConfigSets } from "../../ports/config-sets.ts";
import { configSetType } from "./kinds.ts";
import { auditAnnotations, auditOperations, kept, keptRest, type Store } from "./store.ts";
import { complete, forUser } from "./user-request.ts";

type Context = Omit<Store<ConfigSet>, "clock">;

/** ConfigSets port on the Kubernetes API and the watch cache. */
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
  const created = await client.create(configSetType, { metadata, spec }).catch(insteadOf(isAlreadyExists, "taken"));
  return created === "taken" ? created : kept(cache, created);
}

/** Replaces the version read; an intermediate change is read and replaced too. */
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
    const changed = await client.patch(configSetType, ref, patch, { as: "json" }).catch(insteadOf(isNotFound, "gone"));
    return changed === "gone" ? changed : kept(cache, changed);
  });
}

async function remove({ client, cache, namespace, deletions }: Context, configSet: ConfigSet): Promise<void> {
  const { name, uid } = configSet.metadata;
  const removal = deletions.during(uid, () => client.delete(configSetType, { name, namespace }, { uid }));
  // Conflict: another config set now has the name.
  keptRest(cache, configSet, await removal.catch(insteadOf(isConflict, "gone")));
}

import { FINALIZER } from "../../../crds/group.ts";
import { insteadOf, isNotFound } from "../../kit/client/errors.ts";
import type { KubeObject, ObjectMeta, ResourceType } from "../../kit/client/objects.ts";
import type { StatusWriter } from "../../ports/cluster.ts";
import { kept, keptRest, type Store, sameVersion } from "./store.ts";

type Writable<T extends KubeObject> = Pick<Store<T>, "client" | "cache">;

/** StatusWriter port of a kind: each write holds for exactly the version read. */
export function kubernetesStatusWriter<T extends KubeObject, Status>(
  store: Writable<T> & { readonly type: ResourceType<T> },
): StatusWriter<T, Status> {
  const { client, cache, type } = store;
  return {
    async addFinalizer({ metadata }) {
      const value = [...(metadata.finalizers ?? []), FINALIZER];
      const patch = [sameVersion(metadata), { op: "add", path: "/metadata/finalizers", value }];
      return kept(cache, await client.patch(type, metadata, patch, { as: "json" }));
    },
    removeFinalizer: (resource) => removeFinalizers(store, type, resource, [FINALIZER]),
    writeStatus: (resource, status) => writeStatus(store, type, resource, status),
  };
}

/** Replaces the status of exactly the version read. @throws KubeError, a conflict when it changed */
export async function writeStatus<T extends KubeObject>(
  { client, cache }: Writable<T>,
  type: ResourceType<T>,
  { metadata }: T,
  status: unknown,
): Promise<T> {
  const patch = [sameVersion(metadata), { op: "add", path: "/status", value: status }];
  return kept(cache, await client.patch(type, metadata, patch, { as: "json", subresource: "status" }));
}

/** JSON patch that removes these finalizers, or all, from the version read; `undefined` without any. */
export function withoutFinalizers(
  metadata: Pick<ObjectMeta, "resourceVersion" | "finalizers">,
  removable?: readonly string[],
) {
  const { finalizers = [] } = metadata;
  const value = removable === undefined ? [] : finalizers.filter((finalizer) => !removable.includes(finalizer));
  if (value.length === finalizers.length) return undefined;
  return [sameVersion(metadata), { op: "replace", path: "/metadata/finalizers", value }];
}

/**
 * Removes these finalizers, or all, from the version read. An object without holders leaves the cache.
 *
 * @param store without a cache for unwatched kinds
 * @throws KubeError, a conflict when it changed
 */
export async function removeFinalizers<T extends KubeObject>(
  { client, cache }: Pick<Store<T>, "client"> & { readonly cache: Store<T>["cache"] | undefined },
  type: ResourceType<T>,
  object: T,
  removable?: readonly string[],
): Promise<void> {
  const body = withoutFinalizers(object.metadata, removable);
  if (body === undefined) return;
  const left = await client.patch(type, object.metadata, body, { as: "json" }).catch(insteadOf(isNotFound, "gone"));
  // The response is the last state, even of an object that is gone.
  if (cache !== undefined) keptRest(cache, object, left !== "gone" && isHeld(left) ? left : "gone");
}

function isHeld({ metadata: { deletionTimestamp, finalizers = [] } }: KubeObject): boolean {
  return deletionTimestamp === undefined || finalizers.length > 0;
}

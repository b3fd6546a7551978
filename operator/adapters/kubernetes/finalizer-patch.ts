import type { ObjectCache } from "../../kit/cache/object-cache.ts";
import { insteadOf, isNotFound } from "../../kit/client/errors.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import type { KubeObject, ObjectMeta, ResourceType } from "../../kit/client/objects.ts";
import { keptRest } from "./store.ts";

type Read = Pick<ObjectMeta, "resourceVersion" | "finalizers">;

/**
 * JSON patch that removes these finalizers, or all; `undefined` without any. Writing the version read back makes the
 * API server answer 409 after a change; a failing `test` is a 422, like some refusals by admission.
 */
export function withoutFinalizers(
  { resourceVersion, finalizers = [] }: Read,
  unwanted: readonly string[] = finalizers,
) {
  const kept = finalizers.filter((finalizer) => !unwanted.includes(finalizer));
  if (kept.length === finalizers.length) return undefined;
  return [
    { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion },
    { op: "replace", path: "/metadata/finalizers", value: kept },
  ];
}

interface Context<T extends KubeObject> {
  readonly client: KubeClient;
  /** Absent for unwatched kinds. */
  readonly cache: ObjectCache<T> | undefined;
}

/**
 * Removes these finalizers, or all, from the version read. An object without holders leaves the cache.
 *
 * @throws KubeError, a conflict when it changed
 */
export async function removeFinalizers<T extends KubeObject>(
  { client, cache }: Context<T>,
  type: ResourceType<T>,
  object: T,
  unwanted?: readonly string[],
): Promise<void> {
  const { metadata } = object;
  const body = withoutFinalizers(metadata, unwanted);
  if (body === undefined) return;
  const left = await client.patch(type, metadata, body, { as: "json" }).catch(insteadOf(isNotFound, "gone"));
  // The response is the last state, even of an object that is gone.
  if (cache !== undefined) keptRest(cache, object, left !== "gone" && isHeld(left) ? left : "gone");
}

function isHeld({ metadata: { deletionTimestamp, finalizers = [] } }: KubeObject): boolean {
  return deletionTimestamp === undefined || finalizers.length > 0;
}

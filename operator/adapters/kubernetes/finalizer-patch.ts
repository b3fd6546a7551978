import type { ObjectCache } from "../../kit/cache/object-cache.ts";
import { insteadOf, isNotFound } from "../../kit/client/errors.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import type { KubeObject, ObjectMeta, ResourceType } from "../../kit/client/objects.ts";
import { keptRest } from "./store.ts";

type Read = Pick<ObjectMeta, "resourceVersion" | "finalizers">;

/**
 * The JSON patch that takes these finalizers off an object, or every one; `undefined` where it has none of them. It holds for
 * the version that was read: writing that back makes the API server answer 409 when the object changed since, or is another
 * one. A `test` that fails is a 422, as refusals by admission may be.
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
  /** Absent for kinds that are not watched. */
  readonly cache: ObjectCache<T> | undefined;
}

/**
 * Takes these finalizers off an object as it was read, or every one. One that nothing holds any more leaves the cache.
 *
 * @throws KubeError, a conflict when it changed since
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
  // The answer is the object as it last was, also when nothing held it any more.
  if (cache !== undefined) keptRest(cache, object, left !== "gone" && isHeld(left) ? left : "gone");
}

function isHeld({ metadata: { deletionTimestamp, finalizers = [] } }: KubeObject): boolean {
  return deletionTimestamp === undefined || finalizers.length > 0;
}

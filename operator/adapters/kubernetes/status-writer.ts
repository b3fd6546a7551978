import { FINALIZER } from "../../../crds/group.ts";
import type { ObjectCache } from "../../kit/cache/object-cache.ts";
import { insteadOf, isNotFound } from "../../kit/client/errors.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import type { KubeObject, ObjectMeta, ResourceType } from "../../kit/client/objects.ts";
import type { StatusWriter } from "../../ports/status-writer.ts";
import { kept, keptRest, type Store } from "./store.ts";

interface Context<T extends KubeObject> extends Pick<Store<T>, "client" | "cache"> {
  readonly type: ResourceType<T>;
}

/** StatusWriter port of a kind: each write holds for exactly the version read. */
export function kubernetesStatusWriter<T extends KubeObject, Status>(context: Context<T>): StatusWriter<T, Status> {
  const { client, type, cache } = context;
  const patch = async ({ metadata }: T, operations: object[], subresource?: string) => {
    // Writing the version back makes the API server answer 409 after a change; `test` would be a 422.
    const version = { op: "replace", path: "/metadata/resourceVersion", value: metadata.resourceVersion };
    const options = subresource === undefined ? {} : { subresource };
    return client.patch(type, metadata, [version, ...operations], { as: "json", ...options });
  };
  return {
    async addFinalizer(resource) {
      const finalizers = [...(resource.metadata.finalizers ?? []), FINALIZER];
      return kept(cache, await patch(resource, [{ op: "add", path: "/metadata/finalizers", value: finalizers }]));
    },
    async removeFinalizer(resource) {
      await removeFinalizers(context, type, resource, [FINALIZER]);
    },
    async writeStatus(resource, status) {
      return kept(cache, await patch(resource, [{ op: "add", path: "/status", value: status }], "status"));
    },
  };
}

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

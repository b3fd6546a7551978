import { FINALIZER } from "../../../crds/group.ts";
import type { KubeObject, ResourceType } from "../../kit/client/objects.ts";
import type { StatusWriter } from "../../ports/cluster.ts";
import { removeFinalizers } from "./finalizer-patch.ts";
import { kept, type Store } from "./store.ts";

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

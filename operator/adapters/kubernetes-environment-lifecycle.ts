import type { EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";
import { FINALIZER } from "../../crds/group.ts";
import { environmentType } from "../kinds.ts";
import type { KubeClient } from "../kit/kube-client.ts";
import { isNotFound } from "../kit/kube-errors.ts";
import type { ObjectCache } from "../kit/object-cache.ts";
import type { EnvironmentLifecycle } from "../ports/environments.ts";

interface Context {
  readonly client: KubeClient;
  readonly cache: ObjectCache<EphemeralEnvironment>;
}

/** The EnvironmentLifecycle port: the operator's own writes, each on exactly the version that was judged. */
export function kubernetesEnvironmentLifecycle({ client, cache }: Context): EnvironmentLifecycle {
  const patch = async (environment: EphemeralEnvironment, operations: object[], subresource?: string) => {
    const { name, resourceVersion } = environment.metadata;
    // Writing the version back makes the API server answer 409 when the object changed since; `test` would be a 422.
    const body = [{ op: "replace", path: "/metadata/resourceVersion", value: resourceVersion }, ...operations];
    const options = subresource === undefined ? {} : { subresource };
    return client.patch(environmentType, { name }, body, { as: "json", ...options });
  };
  const kept = (environment: EphemeralEnvironment) => {
    cache.written(environment);
    return environment;
  };
  return {
    async hold(environment) {
      const finalizers = [...(environment.metadata.finalizers ?? []), FINALIZER];
      return kept(await patch(environment, [{ op: "add", path: "/metadata/finalizers", value: finalizers }]));
    },
    async release(environment) {
      const finalizers = (environment.metadata.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
      try {
        await patch(environment, [{ op: "replace", path: "/metadata/finalizers", value: finalizers }]);
        if (finalizers.length === 0) cache.deleted(environment);
      } catch (error) {
        if (!isNotFound(error)) throw error;
        cache.deleted(environment);
      }
    },
    async writeStatus(environment, status) {
      return kept(await patch(environment, [{ op: "add", path: "/status", value: status }], "status"));
    },
  };
}

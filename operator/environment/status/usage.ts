import type { EnvironmentStatus, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { NOTHING_REQUESTED, type Requested, requestedOf, usageAfter } from "../../../crds/environment/usage.ts";
import { namespaceKind, resourceQuotaKind } from "../../kit/client/kinds.ts";
import type { Cluster } from "../../ports/cluster.ts";
import { ENVIRONMENT_QUOTA } from "../desired/isolation.ts";
import { namespaceObject, refIn } from "../desired/namespace.ts";

interface Context {
  readonly cluster: Pick<Cluster, "observe">;
  readonly now: Date;
}

/** The status with what the environment's pods and volumes request from now on, if that is news. */
export function withUsage(
  status: EnvironmentStatus,
  environment: EphemeralEnvironment,
  { cluster, now }: Context,
): EnvironmentStatus {
  const usage = usageAfter(status.usage, requestedBy(environment, cluster), now);
  return usage === undefined ? status : { ...status, usage };
}

/** By the namespace's quota; without a namespace nothing, and `undefined` while the quota has not counted yet. */
function requestedBy(environment: EphemeralEnvironment, cluster: Context["cluster"]): Requested | undefined {
  const { metadata } = environment;
  const { name } = namespaceObject(environment).metadata;
  if (cluster.observe(metadata, namespaceKind, { name }) === undefined) return NOTHING_REQUESTED;
  const quota = cluster.observe(metadata, resourceQuotaKind, refIn(environment, ENVIRONMENT_QUOTA));
  const { used } = (quota?.status ?? {}) as { readonly used?: Readonly<Record<string, string>> };
  return requestedOf(used);
}

import type { EnvironmentStatus, EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { NOTHING_REQUESTED, type Requested, requestedOf, usageAfter } from "../../../../crds/usage/usage.ts";
import { namespaceKind, resourceQuotaKind } from "../../../kit/client/kinds.ts";
import type { ClusterObserver } from "../../../ports/cluster.ts";
import { ENVIRONMENT_QUOTA } from "../desired/isolation.ts";
import { namespaceObject, refIn } from "../desired/namespace.ts";

/** The status with the current requests of the environment's pods and volumes, if new. */
export function withUsage(
  status: EnvironmentStatus,
  environment: EphemeralEnvironment,
  { cluster, now }: { readonly cluster: ClusterObserver; readonly now: Date },
): EnvironmentStatus {
  const counted = requestedBy(environment, cluster);
  // A quota without counts admits nothing; one recreated beside running pods counts them soon.
  const requested = counted === "not yet" ? status.usage === undefined && NOTHING_REQUESTED : counted;
  const usage = usageAfter(status.usage, requested || undefined, now);
  return usage === undefined ? status : { ...status, usage };
}

interface Quota {
  readonly spec?: { readonly hard?: Readonly<Record<string, string>> };
  readonly status?: { readonly used?: Readonly<Record<string, string>> };
}

/** Requests of the namespace's quota; nothing without a namespace, `undefined` where the quota misses a resource. */
function requestedBy(environment: EphemeralEnvironment, cluster: ClusterObserver): Requested | "not yet" | undefined {
  const { metadata } = environment;
  const { name } = namespaceObject(environment).metadata;
  if (cluster.observe(metadata, namespaceKind, { name }) === undefined) return NOTHING_REQUESTED;
  const quota = cluster.observe(metadata, resourceQuotaKind, refIn(environment, ENVIRONMENT_QUOTA));
  const { spec, status } = (quota ?? {}) as Quota;
  if (quota !== undefined && requestedOf(spec?.hard) === undefined) return undefined;
  return requestedOf(status?.used) ?? "not yet";
}

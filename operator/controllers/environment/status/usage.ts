import {
  NOTHING_REQUESTED,
  type Requested,
  requestedOf,
  usageAfter,
} from "../../../../crds/environment/costs/usage.ts";
import type { EnvironmentStatus, EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { namespaceKind, resourceQuotaKind } from "../../../kit/client/kinds.ts";
import type { Cluster } from "../../../ports/cluster.ts";
import { ENVIRONMENT_QUOTA } from "../desired/isolation.ts";
import { namespaceObject, refIn } from "../desired/namespace.ts";

interface UsageContext {
  readonly cluster: Pick<Cluster, "observe">;
  readonly now: Date;
}

/** The status with what the environment's pods and volumes request from now on, if that is news. */
export function withUsage(
  status: EnvironmentStatus,
  environment: EphemeralEnvironment,
  { cluster, now }: UsageContext,
): EnvironmentStatus {
  const counted = requestedBy(environment, cluster);
  // A quota that has not counted admits nothing; one that was made anew beside running pods counts them soon.
  const requested = counted === "not yet" ? status.usage === undefined && NOTHING_REQUESTED : counted;
  const usage = usageAfter(status.usage, requested || undefined, now);
  return usage === undefined ? status : { ...status, usage };
}

interface Quota {
  readonly spec?: { readonly hard?: Readonly<Record<string, string>> };
  readonly status?: { readonly used?: Readonly<Record<string, string>> };
}

/** By the namespace's quota; without a namespace nothing, and `undefined` where the quota does not count all resources. */
function requestedBy(
  environment: EphemeralEnvironment,
  cluster: UsageContext["cluster"],
): Requested | "not yet" | undefined {
  const { metadata } = environment;
  const { name } = namespaceObject(environment).metadata;
  if (cluster.observe(metadata, namespaceKind, { name }) === undefined) return NOTHING_REQUESTED;
  const found = cluster.observe(metadata, resourceQuotaKind, refIn(environment, ENVIRONMENT_QUOTA));
  const { spec, status } = (found ?? {}) as Quota;
  if (found !== undefined && requestedOf(spec?.hard) === undefined) return undefined;
  return requestedOf(status?.used) ?? "not yet";
}

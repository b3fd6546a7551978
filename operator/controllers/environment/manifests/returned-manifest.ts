import type { Condition } from "../../../../crds/conditions.ts";
import { findCondition, transition } from "../../../../crds/conditions.ts";
import {
  type EnvironmentStatus,
  type EphemeralEnvironment,
  hasFinalizer,
  observedAuditId,
  reconcileToken,
} from "../../../../crds/environment/ephemeral-environment.ts";
import { managedBy } from "../../../../crds/environment/managed-by.ts";
import { FINAL_CAUSES, type FinalCause, type ManifestStatus } from "../../../../crds/environment/manifest.schema.ts";
import { RENEW_ANNOTATION } from "../../../../crds/group.ts";
import type { Clock } from "../../../kit/time/clock.ts";
import type { EnvironmentStatusWriter, OperatorEnvironments } from "../../../ports/environments.ts";
import type { Records } from "../../../ports/records.ts";
import { sameStatus } from "../status/status.ts";
import { noteManifest, sameManifest, withRenewal } from "./noted-manifest.ts";

/** Reason of `Ready` of an environment that is not built, because the former one of the same manifest has ended for good. */
export const EXPIRED = "Expired";

interface ManifestDependencies {
  readonly clock: Pick<Clock, "now">;
  readonly records: Pick<Records, "newestOf">;
  readonly environments: Pick<OperatorEnvironments, "reread">;
}

/**
 * What is to be noted of the environment's manifest in Git; `undefined` for an environment that no GitOps tool keeps. It
 * says whether the environment is to be built: a tool brings back whatever is deleted, so without this nothing from Git
 * would ever expire. Decided when the environment is new, from the record of the former one; after that its own status
 * keeps the decision, until the manifest changes.
 */
export async function manifestOf(
  environment: EphemeralEnvironment,
  context: ManifestDependencies,
): Promise<ManifestStatus | undefined> {
  const { metadata, status } = environment;
  const former = status?.manifest;
  if (managedBy(environment) === undefined) return released(former, context);
  const isObserved = former !== undefined && status?.observedGeneration === metadata.generation;
  const noted = isObserved ? former : await noteAnew(environment, former, context);
  if (noted === undefined) return undefined;
  const current = withRenewal(noted, environment);
  if (former !== undefined) return sameManifest(former, current) ? current : released(current, context);
  // What was begun is never refused later: the finalizer comes after this decision.
  if (hasFinalizer(environment)) return current;
  const refusedAfter = await finalCauseOf(environment, current, context);
  return refusedAfter === undefined ? current : { ...current, refusedAfter };
}

/** The manifest of an environment that is to be built from now on, if it was not before. */
function released(manifest: ManifestStatus | undefined, { clock }: ManifestDependencies): ManifestStatus | undefined {
  if (manifest?.refusedAfter === undefined) return manifest;
  const { refusedAfter: _, ...others } = manifest;
  return { ...others, builtFrom: clock.now().toISOString() };
}

async function noteAnew(
  environment: EphemeralEnvironment,
  former: ManifestStatus | undefined,
  { environments }: ManifestDependencies,
): Promise<ManifestStatus | undefined> {
  // Caches drop `managedFields`.
  const fresh = await environments.reread(environment);
  return fresh === undefined ? former : noteManifest(fresh, former);
}

/** How the former environment of the same manifest ended, if that was for good. */
async function finalCauseOf(
  { metadata }: EphemeralEnvironment,
  manifest: ManifestStatus,
  { records }: ManifestDependencies,
): Promise<FinalCause | undefined> {
  const last = await records.newestOf(metadata.name);
  if (last?.manifest === undefined || !sameManifest(last.manifest, manifest)) return undefined;
  return FINAL_CAUSES.find((cause) => cause === last.cause);
}

const ENDED: Readonly<Record<FinalCause, string>> = {
  expired: "the environment of this manifest has expired",
  deletedByUser: "the environment of this manifest was deleted by a user",
};

/** The manifest of an environment that is not built. */
type Refused = ManifestStatus & { readonly refusedAfter: FinalCause };

export const isRefused = (manifest: ManifestStatus | undefined): manifest is Refused =>
  manifest?.refusedAfter !== undefined;

/**
 * The reconcile of an environment that is not built. It has no finalizer: nothing is made for it, so its deletion has
 * nothing to tear down and leaves no record.
 */
export async function refuse(
  environment: EphemeralEnvironment,
  manifest: Refused,
  { statusWriter, clock }: { readonly statusWriter: EnvironmentStatusWriter; readonly clock: Clock },
): Promise<void> {
  const status = refusedStatus(environment, manifest, clock.now());
  if (!sameStatus(environment.status, status)) await statusWriter.writeStatus(environment, status);
}

/** The status of an environment that is not built: nothing is made for it, and it is told what to do. */
export function refusedStatus(environment: EphemeralEnvironment, manifest: Refused, now: Date): EnvironmentStatus {
  const { metadata, status } = environment;
  const ended = ENDED[manifest.refusedAfter];
  const ready: Omit<Condition, "lastTransitionTime"> = {
    type: "Ready",
    status: "False",
    reason: EXPIRED,
    message: `${ended} and came back from Git unchanged, so it is not built again: change its spec in Git, set the annotation ${RENEW_ANNOTATION} to another value, or remove the manifest`,
    observedGeneration: metadata.generation,
  };
  const token = reconcileToken(environment);
  return {
    ...observedAuditId(environment),
    observedGeneration: metadata.generation,
    phase: "failed",
    conditions: [transition(findCondition(status?.conditions, "Ready"), ready, now)],
    manifest,
    ...(token === undefined ? {} : { lastHandledReconcileAt: token }),
  };
}

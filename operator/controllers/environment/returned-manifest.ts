import {
  type EnvironmentStatus,
  type EphemeralEnvironment,
  handledRequests,
  hasFinalizer,
} from "../../../crds/environment/ephemeral-environment.ts";
import { managedBy } from "../../../crds/environment/managed-by.ts";
import { FINAL_CAUSES, type FinalCause, type ManifestStatus } from "../../../crds/environment/manifest.schema.ts";
import { noteManifest, sameManifest, withRenewal } from "../../../crds/environment/noted-manifest.ts";
import { RENEW_ANNOTATION } from "../../../crds/group.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { EnvironmentStatusWriter, OperatorEnvironments } from "../../ports/environments.ts";
import type { Records } from "../../ports/records.ts";
import { nextCondition, sameStatus } from "./status/status.ts";

/** Reason of `Ready` of an environment that is not built: its predecessor of the same manifest has ended for good. */
export const EXPIRED = "Expired";

interface ManifestDependencies {
  readonly clock: Clock;
  readonly records: Records;
  readonly environments: Pick<OperatorEnvironments, "reread">;
}

/**
 * The manifest to note; `undefined` without a GitOps tool. Decides if the environment is built: a tool restores every
 * deleted object, so otherwise nothing from Git would expire. The predecessor's record decides once; then the status
 * keeps the decision until the manifest changes.
 */
export async function manifestOf(
  environment: EphemeralEnvironment,
  context: ManifestDependencies,
): Promise<ManifestStatus | undefined> {
  const { metadata, status } = environment;
  const former = status?.manifest;
  if (managedBy(environment) === undefined) return released(former, context);
  const isObserved = former !== undefined && status?.observedGeneration === metadata.generation;
  const manifest = isObserved ? former : await noteAnew(environment, former, context);
  if (manifest === undefined) return undefined;
  const current = withRenewal(manifest, environment);
  if (former !== undefined) return sameManifest(former, current) ? current : released(current, context);
  // A begun environment is never refused: the finalizer comes after this decision.
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

/** Final cause of the predecessor with the same manifest, if it ended for good. */
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

type Refused = ManifestStatus & { readonly refusedAfter: FinalCause };

export const isRefused = (manifest: ManifestStatus | undefined): manifest is Refused =>
  manifest?.refusedAfter !== undefined;

/**
 * Reconcile of an environment that is not built. It has no finalizer and no objects, so its deletion needs no teardown
 * and leaves no record.
 */
export async function refuse(
  environment: EphemeralEnvironment,
  manifest: Refused,
  { statusWriter, clock }: { readonly statusWriter: EnvironmentStatusWriter; readonly clock: Clock },
): Promise<void> {
  const status = refusedStatus(environment, manifest, clock.now());
  if (!sameStatus(environment.status, status)) await statusWriter.writeStatus(environment, status);
}

/** Status of an environment that is not built, with instructions. */
function refusedStatus(environment: EphemeralEnvironment, manifest: Refused, now: Date): EnvironmentStatus {
  const ended = ENDED[manifest.refusedAfter];
  const message = `${ended} and came back from Git unchanged, so it is not built again: change its spec in Git, set the annotation ${RENEW_ANNOTATION} to another value, or remove the manifest`;
  return {
    ...handledRequests(environment),
    observedGeneration: environment.metadata.generation,
    phase: "failed",
    conditions: [nextCondition(environment, "Ready", { status: "False", reason: EXPIRED, message }, now)],
    manifest,
  };
}

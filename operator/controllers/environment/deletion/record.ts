import { appliedState } from "../../../../crds/environment/applied-state.ts";
import type { RecordSpec } from "../../../../crds/environment/environment-record.ts";
import type { TeardownStep } from "../../../../crds/environment/environment-status.schema.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { deletableFrom, isEndedByExpiry, ttlHours } from "../../../../crds/environment/lifetime.ts";
import { isMadeByEvent, mayReturn, notedCause } from "../../../../crds/environment/managed-by.ts";
import type { DeletionCause } from "../../../../crds/environment/manifest.schema.ts";
import { recorded } from "../../../../crds/environment/noted-manifest.ts";
import { COMPONENTS, type Component } from "../../../../crds/names.ts";
import { present } from "../../../../crds/present.ts";
import type { Owner } from "../../../ports/cluster.ts";
import type { BackingService } from "../backing-services/backing-service.ts";
import { FEEDBACK_STEP, type Progress, VOLUMES_STEP } from "./teardown-steps.ts";
import { beforeTeardown } from "./terminating.ts";

interface Ended extends Progress {
  readonly goneAt: Date;
}

/** Record of a deleted environment. */
export function environmentRecord(
  environment: EphemeralEnvironment,
  { goneAt, services, ...past }: Ended & { readonly services: readonly BackingService[] },
): RecordSpec {
  const { metadata, spec, status } = environment;
  const deletedAt = metadata.deletionTimestamp ?? goneAt.toISOString();
  const configSet = status?.configSet ?? spec.configSet;
  const reason = deletionReason(environment, deletedAt);
  const ofServices: Partial<RecordSpec> = Object.assign({}, ...services.map((one) => one.recorded(environment)));
  const record = present({
    name: metadata.name,
    uid: metadata.uid,
    createdAt: metadata.creationTimestamp,
    reason,
    cause: mayReturn(environment) ? causeOf(environment, reason) : undefined,
    dueAt: deletableFrom(environment)?.toISOString(),
    manifest: status?.manifest && recorded(status.manifest),
    readyAt: status?.readyAt,
    usage: status?.usage,
    allocations: status?.allocations,
    sleeps: status?.sleeps,
    ...deletionTimes(deletedAt, goneAt),
    ...beforeTeardown(environment),
    ttlHours: ttlHours(environment),
    components: Object.fromEntries(COMPONENTS.flatMap((component) => recordedComponent(environment, component))),
    configSet: configSet && present({ name: configSet.name, version: configSet.version }),
    owner: spec.owner,
    groups: spec.access?.groups,
    trigger: spec.trigger,
    // State of its pull request at the environment's last write for it.
    appliedState: isMadeByEvent(environment) ? appliedState(environment) : undefined,
    untold: leftBy(past.steps, FEEDBACK_STEP),
    ...forcedEnds(past),
  });
  return { ...record, ...ofServices };
}

/** Reason of a deletion for records and messages. */
export function deletionReason(environment: EphemeralEnvironment, deletedAt: string): "expired" | "deleted" {
  return isEndedByExpiry(environment, deletedAt) ? "expired" : "deleted";
}

/** An unstated end comes from the creating tool or kubectl. */
function causeOf(environment: EphemeralEnvironment, reason: "expired" | "deleted"): DeletionCause {
  return notedCause(environment) ?? (reason === "expired" ? "expired" : "pruned");
}

/** Record of an environment whose resource was gone before its objects, found at `seenAt`. */
export function orphanRecord(
  { owner, since, seenAt }: { owner: Owner; since: Date; seenAt: Date },
  { goneAt, ...past }: Ended,
): RecordSpec {
  return {
    name: owner.name,
    uid: owner.uid,
    reason: "orphaned",
    createdAt: since.toISOString(),
    ...deletionTimes(seenAt.toISOString(), goneAt),
    ...forcedEnds(past),
  };
}

function deletionTimes(deletedAt: string, goneAt: Date) {
  const teardownSeconds = Math.max(0, Math.round((goneAt.getTime() - Date.parse(deletedAt)) / 1000));
  return { deletedAt, goneAt: goneAt.toISOString(), teardownSeconds };
}

function recordedComponent({ spec, status }: EphemeralEnvironment, component: Component) {
  const source = spec[component];
  if (source === undefined) return [];
  const { repository, branch, commit: requested = "" } = source;
  const current = status?.components?.[component]?.commit ?? status?.sources?.[component]?.resolved?.commit;
  return [[component, { repository, branch, commit: current ?? requested }] as const];
}

/** Forced ends by the platform or an admin, and kept objects. */
function forcedEnds({ steps, removals = [] }: Progress) {
  const forced = steps.filter(({ state }) => state === "forced");
  return present({
    keptVolumes: leftBy(steps, VOLUMES_STEP),
    takenOver: leftBy(steps, "application"),
    removals: removals.length === 0 ? undefined : [...removals],
    forced: forced.length === 0 ? undefined : forced.map(({ name, message = "" }) => ({ step: name, left: message })),
  });
}

/** A step that is gone has a message when something of it was given up. */
function leftBy(steps: readonly TeardownStep[], step: string): string | undefined {
  return steps.find(({ name, state }) => name === step && state === "gone")?.message;
}

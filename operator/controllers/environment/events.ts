import { findCondition } from "../../../crds/conditions.ts";
import { HOUR_MS } from "../../../crds/durations.ts";
import { desiredCommit } from "../../../crds/environment/component-build.ts";
import type { TeardownBlocker } from "../../../crds/environment/environment-status.schema.ts";
import type { EnvironmentStatus, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { deletableFrom } from "../../../crds/environment/lifetime.ts";
import { asRun, isAsleep, isScaledToZero } from "../../../crds/environment/sleep.ts";
import { AUDIT_ID_ANNOTATION } from "../../../crds/group.ts";
import { COMPONENTS, shortCommit } from "../../../crds/names.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { EnvironmentStatusWriter } from "../../ports/environments.ts";
import type { Event, EventRecorder } from "../../ports/event-recorder.ts";
import { deletionReason } from "./deletion/record.ts";

type Rule = (change: StoredChange) => Event | undefined;

const RULES: readonly Rule[] = [created, extended, updateStarted, asleep, readiness, failed, expiryRefused];

/** Events of a status write. Pure: equal changes have equal events, and a reconcile without a write has none. */
export function eventsOf(change: StoredChange): readonly Event[] {
  const isLeaving = change.after.metadata.deletionTimestamp !== undefined;
  return (isLeaving ? [deletionBlocked] : RULES).flatMap((rule) => rule(change) ?? []);
}

const eventOf = (type: Event["type"]) => (reason: string, action: string, message: string) => {
  return { type, reason, action, message };
};
const [normal, warning] = [eventOf("Normal"), eventOf("Warning")];

function created(change: StoredChange): Event | undefined {
  if (change.before.status?.observedGeneration !== undefined) return undefined;
  return normal("Created", "Create", `made ${madeFor(change)}`);
}

function extended(change: StoredChange): Event | undefined {
  const { metadata, spec, status } = change.after;
  const { ttlHours: former, observedGeneration } = change.before.status ?? {};
  // A config set's default may arrive after the first status.
  const isRequested = observedGeneration !== metadata.generation && spec.ttlHours !== undefined;
  if (!isRequested || former === undefined || (status?.ttlHours ?? 0) <= former) return undefined;
  const hours = `from ${former} to ${status?.ttlHours} hours`;
  return normal("Extended", "Extend", `extended ${hours}, until ${status?.expiresAt}, ${madeBy(change)}`);
}

/** Only a replacement of running pods: no creation, suspension or resumption. */
function updateStarted({ before, after }: StoredChange): Event | undefined {
  const [former, rollout] = [before.status?.rollout, after.status?.rollout];
  const isNew = rollout !== undefined && rollout.specHash !== former?.specHash;
  if (!isNew || !before.status?.servingHash || asRun(after).spec.suspended) return undefined;
  const commits = COMPONENTS.flatMap((component) => {
    const commit = desiredCommit(after, component);
    const isOther = commit !== undefined && commit !== before.status?.components?.[component]?.commit;
    return isOther ? [`${component} at ${shortCommit(commit)}`] : [];
  });
  const what = commits.length === 0 ? "to other settings" : `to ${commits.join(", ")}`;
  return normal("UpdateStarted", "Update", `update ${what}; what runs stays until that is ready`);
}

function readiness({ before, after }: StoredChange): Event | undefined {
  const [former, status] = [before.status, after.status];
  const hasMoved = former?.servingHash !== status?.servingHash;
  if (readyOf(status)?.status !== "True") return undefined;
  if (readyOf(former)?.status === "True" && !hasMoved) return undefined;
  if (asRun(after).spec.suspended) return updatedAsleep(former);
  // Empty since the suspension: nothing has answered until now. A URL that is served again early fills it early.
  if (former?.servingHash === "" || status?.sleep?.state === "waking")
    return normal("Awake", "Resume", `awake: all URLs answer again${wokenBy(status)}`);
  if (former?.readyAt === undefined) return firstReady(after);
  const isUpdate = former.rollout !== undefined || hasMoved;
  return isUpdate
    ? normal("Updated", "Update", "updated: what the spec asks for runs, and all URLs answer")
    : normal("Ready", "Check", "ready again");
}

function asleep({ before, after }: StoredChange): Event | undefined {
  if (isScaledToZero(before.status) || !isScaledToZero(after.status)) return undefined;
  return normal("Asleep", "Suspend", `asleep${whyAsleep(after)}: scaled to zero; secrets and data stay`);
}

const WOKEN_BY = {
  schedule: "; its hours woke it",
  idle: "",
  person: "; a person woke it",
  request: "; a request woke it",
} as const;

/** Names what wakes it: its sleep is over only with a later status. */
function wokenBy(status: EnvironmentStatus | undefined): string {
  const { state, cause = "idle", schedule, afterIdleMinutes } = status?.sleep ?? {};
  if (state !== "waking") return "";
  if (cause !== "schedule" || schedule !== undefined) return WOKEN_BY[cause];
  return afterIdleMinutes === undefined ? "; it no longer sleeps" : "; it no longer sleeps by a schedule";
}

function whyAsleep(environment: EphemeralEnvironment): string {
  if (!isAsleep(environment)) return "";
  const { cause, afterIdleMinutes } = environment.status?.sleep ?? {};
  return cause === "idle" ? ` after ${afterIdleMinutes} idle minutes` : " by its schedule";
}

function updatedAsleep(former: EnvironmentStatus | undefined): Event | undefined {
  if (!isScaledToZero(former) || former?.rollout === undefined) return undefined;
  return normal("Updated", "Update", "updated while asleep");
}

function firstReady({ metadata, status }: EphemeralEnvironment): Event {
  const seconds = secondsBetween(metadata.creationTimestamp, status?.readyAt ?? metadata.creationTimestamp);
  return normal("Ready", "Create", `ready ${seconds} s after its creation`);
}

function failed({ before, after }: StoredChange): Event | undefined {
  const [former, ready] = [readyOf(before.status), readyOf(after.status)];
  if (ready?.status !== "False" || (former?.status === "False" && former.reason === ready.reason)) return undefined;
  // Below the first line is containers' output.
  const [summary = ""] = ready.message.split("\n");
  return warning("Failed", "Reconcile", `${ready.reason}: ${summary}`);
}

function expiryRefused({ before, after }: StoredChange): Event | undefined {
  const isKnown = findCondition(before.status?.conditions, "ExpiryRefused") !== undefined;
  const refusal = findCondition(after.status?.conditions, "ExpiryRefused");
  return isKnown || refusal === undefined ? undefined : warning("ExpiryRefused", "Delete", refusal.message);
}

/** Due when a new blocker appears; a blocker's words may vary. */
function deletionBlocked({ before, after }: StoredChange): Event | undefined {
  const [former, blockers] = [blockersOf(before), blockersOf(after)];
  const formerNames = new Set(former.map(nameOf));
  if (blockers.every((blocker) => formerNames.has(nameOf(blocker)))) return undefined;
  const named = blockers.map((blocker) => `${nameOf(blocker)}: ${blocker.message}`);
  return warning("DeletionBlocked", "Delete", `the deletion is blocked by ${named.join("; ")}`);
}

/** Event of an environment that is completely gone. */
export function deleted(environment: EphemeralEnvironment, now: Date): Event {
  const { deletionTimestamp = now.toISOString() } = environment.metadata;
  const isExpiry = deletionReason(environment, deletionTimestamp) === "expired";
  const seconds = secondsBetween(deletionTimestamp, now);
  const what = isExpiry ? "expired, and gone" : "gone";
  return normal("Deleted", "Delete", `${what} ${seconds} s after its deletion began`);
}

const readyOf = (status: EnvironmentStatus | undefined) => findCondition(status?.conditions, "Ready");
const blockersOf = ({ status }: EphemeralEnvironment) => status?.teardown?.blockers ?? [];
const nameOf = ({ kind, name, reason }: TeardownBlocker) => [kind, name, reason].filter(Boolean).join(" ");

function secondsBetween(from: string, to: string | Date): number {
  return Math.max(0, Math.round((new Date(to).getTime() - Date.parse(from)) / 1000));
}

/** An environment before and after a status write. */
interface StoredChange {
  readonly before: EphemeralEnvironment;
  readonly after: EphemeralEnvironment;
  /** Foreign field managers that last wrote its spec; none for the platform. */
  readonly writers: readonly string[];
}

/**
 * Author of a spec change: the REST interface with the id of its audit record, or field managers, known to the second.
 * Names and addresses stay in that record: more people may read events.
 */
function madeBy({ before, after, writers }: StoredChange): string {
  const auditId = after.metadata.annotations?.[AUDIT_ID_ANNOTATION];
  const isNew = auditId !== undefined && auditId !== before.status?.observedAuditId;
  if (isNew) return `through the REST interface (audit record ${auditId})`;
  return writers.length > 0 ? `by ${writers.join(", ")}` : "through the REST interface";
}

/** Cause of the creation, as far as the resource says. */
function madeFor(change: StoredChange): string {
  const { kind, number, repository } = change.after.spec.trigger ?? {};
  if (kind === "pull_request") return `for pull request ${number} of Repository ${repository}`;
  if (kind === "pipeline") return `for a pipeline of Repository ${repository}`;
  return madeBy(change);
}

/**
 * Publishes once per expiry that it is within the hour. One first seen within it is skipped: the environment is new or
 * changed, or the event preceded a restart. In memory only.
 */
export function createExpiringSoon({ events, clock }: { readonly events: EventRecorder; readonly clock: Clock }) {
  /** Expiry that was seen while it was further ahead, in milliseconds, by UID. */
  const ahead = new Map<string, number>();
  return {
    check(environment: EphemeralEnvironment): void {
      const { uid } = environment.metadata;
      const from = deletableFrom(environment);
      const dueInMs = (from?.getTime() ?? 0) - clock.now().getTime();
      if (from !== undefined && dueInMs > HOUR_MS) {
        ahead.set(uid, from.getTime());
        return;
      }
      const wasAhead = ahead.get(uid) === from?.getTime();
      ahead.delete(uid);
      if (from === undefined || dueInMs <= 0 || !wasAhead) return;
      const message = `expires at ${from.toISOString()}, and is deleted then unless it is extended or protected`;
      events.publish(normal("ExpiringSoon", "Expire", message), environment.metadata);
    },
    forget: (uid: string) => void ahead.delete(uid),
  };
}

interface ReportingDependencies {
  readonly events: EventRecorder;
  readonly clock: Clock;
  /** The foreign field managers that last wrote the spec of the environment of this name. */
  readonly writersOf: (name: string) => readonly string[];
}

/**
 * A writer that publishes the events of each status write. Only one process can store the status of a version, so an
 * event has one author, and neither a restart nor a second leader repeats it.
 */
export function reportingStatusWriter(
  writer: EnvironmentStatusWriter,
  { events, clock, writersOf }: ReportingDependencies,
): EnvironmentStatusWriter {
  return {
    addFinalizer: (environment) => writer.addFinalizer(environment),
    async writeStatus(environment, status) {
      const result = await writer.writeStatus(environment, status);
      const after: EphemeralEnvironment = { ...result, status };
      const writers = writersOf(environment.metadata.name);
      for (const event of eventsOf({ before: environment, after, writers })) events.publish(event, after.metadata);
      return result;
    },
    async removeFinalizer(environment) {
      await writer.removeFinalizer(environment);
      events.publish(deleted(environment, clock.now()), environment.metadata);
    },
  };
}

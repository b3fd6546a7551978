import type { Settings } from "../../../../config/settings.ts";
import {
  type Condition,
  clipped,
  findCondition,
  type InformationalCondition,
  type StepCondition,
  transition,
} from "../../../../crds/conditions.ts";
import { MINUTE_MS } from "../../../../crds/durations.ts";
import {
  type EnvironmentStatus,
  type EphemeralEnvironment,
  handledRequests,
} from "../../../../crds/environment/ephemeral-environment.ts";
import { expiresAt, gracePeriodEnd, ttlHours } from "../../../../crds/environment/lifetime.ts";
import { DEADLINE_EXCEEDED, phaseOf } from "../../../../crds/environment/phase.ts";
import { buildOf, pipelineEnd, pipelineName } from "../../../../crds/environment/pipelines.ts";
import { isServing, pipelinesOfDesiredCommits, specHash } from "../../../../crds/environment/progress.ts";
import { isAsleep } from "../../../../crds/environment/sleep.ts";
import { DELETED_BRANCH_ANNOTATION } from "../../../../crds/group.ts";
import { COMPONENTS } from "../../../../crds/names.ts";
import { present } from "../../../../crds/present.ts";
import { TTL_DEFAULT_HOURS } from "../../../../crds/schema.ts";
import { equalJson } from "../../../kit/equal-json.ts";
import { elapsedMs } from "../../../kit/time/clock.ts";
import type { Findings, Notice, StepResults } from "../step-result.ts";

/** Further input of a status. */
export interface StatusContext {
  readonly now: Date;
  readonly settings: Settings;
  /** Conditions of all steps, in the order of the plan. */
  readonly conditions: readonly StepCondition[];
  /** Reason why an expired environment still exists. */
  readonly expiryRefusal?: string | undefined;
  /** Reason why requests to environments are not known. */
  readonly activityProblem?: string | undefined;
}

const STATUS_OF = { done: "True", waiting: "Unknown", failed: "False" } as const;

/**
 * Status after a reconcile: the steps' findings and their consequences. A step that did not run keeps its condition.
 * Pure: without findings it equals the former status, and nothing is written.
 */
export function statusAfter(
  environment: EphemeralEnvironment,
  results: StepResults,
  context: StatusContext,
): EnvironmentStatus {
  const { metadata, spec, status: former } = environment;
  const findings = [...results.values()].map((result) => result.findings);
  const merged: EnvironmentStatus = Object.assign({}, former, ...findings);
  const { rollout: _, protected: __, protectedUntil: ___, ...fields } = merged;
  const timed = { ...fields, ...observedFields(environment, fields, context) };
  const rollout = rolloutOf(environment, timed, context.now);
  const status: EnvironmentStatus = {
    ...timed,
    ...(spec.protected ? { protected: true } : {}),
    ...protectionEnd(environment, context.now),
    ...present({ rollout }),
  };
  const steps = stepConditions(environment, results, context);
  const current = { ...environment, status: { ...status, conditions: steps } };
  const ready = nextCondition(environment, "Ready", readiness(current, context), context.now);
  const { notice } = results.get("ApplicationSynced") ?? {};
  const informed = informationalConditions(current, environment, { ...context, notice });
  const conditions = [...steps, ...informed, ready];
  return { ...status, conditions, phase: phaseOf({ metadata, status: { ...status, conditions } }) };
}

/** A past end stays, even when the operator removed it and the deletion failed: it is due since then. */
function protectionEnd(
  { spec, status }: EphemeralEnvironment,
  now: Date,
): Pick<EnvironmentStatus, "protectedUntil"> | undefined {
  if (spec.protectedUntil !== undefined) return { protectedUntil: spec.protectedUntil };
  const { protectedUntil } = status ?? {};
  const isEnded = protectedUntil !== undefined && Date.parse(protectedUntil) <= now.getTime();
  return isEnded ? { protectedUntil } : undefined;
}

function observedFields(
  environment: EphemeralEnvironment,
  found: Findings,
  { now, settings }: StatusContext,
): EnvironmentStatus {
  const defaultHours = Math.min(TTL_DEFAULT_HOURS, settings.ttl.maximumHours);
  const hours = configSetHours(environment, found, settings) ?? ttlHours(environment, defaultHours);
  const timed = { ...environment, spec: { ...environment.spec, ttlHours: environment.spec.ttlHours ?? hours } };
  const grace = gracePeriodEnd(timed, now);
  return {
    observedGeneration: environment.metadata.generation,
    ...handledRequests(environment),
    ttlHours: ttlHours(timed),
    expiresAt: expiresAt(timed).toISOString(),
    specChangedAt: specChangedAt(environment, now),
    ...(grace === undefined ? {} : { expiryNotBefore: grace.toISOString() }),
  };
}

/** The config set's default TTL applies once, when its first version is resolved. */
function configSetHours({ status }: EphemeralEnvironment, found: Findings, { ttl }: Settings): number | undefined {
  const hours = status?.configSet === undefined ? found.configSet?.ttlDefaultHours : undefined;
  return hours === undefined ? undefined : Math.min(hours, ttl.maximumHours);
}

export function sameStatus(stored: EnvironmentStatus | undefined, status: EnvironmentStatus): boolean {
  return equalJson(stored ?? {}, status);
}

/** True when a status shows only progress: it answers no new request, and `Ready` was and is Unknown. */
export function isProgress({ metadata, status: former }: EphemeralEnvironment, status: EnvironmentStatus): boolean {
  const isOpen = ({ conditions }: EnvironmentStatus) => findCondition(conditions, "Ready")?.status === "Unknown";
  const isAnswer = former?.lastHandledReconcileAt !== status.lastHandledReconcileAt;
  if (isAnswer || !isOpen(status)) return false;
  return former === undefined || (former.observedGeneration === metadata.generation && isOpen(former));
}

/** Time of the last spec change: now, if no reconcile has seen it. */
export function specChangedAt({ metadata, status }: EphemeralEnvironment, now: Date): string {
  if (status?.specChangedAt === undefined) return metadata.creationTimestamp;
  return status.observedGeneration === metadata.generation ? status.specChangedAt : now.toISOString();
}

/**
 * The current rollout, if any. Its deadline restarts only for another workload: an extension gives a failing
 * environment no more time.
 */
function rolloutOf(
  environment: EphemeralEnvironment,
  status: EnvironmentStatus,
  now: Date,
): EnvironmentStatus["rollout"] {
  const { spec, metadata, status: former } = environment;
  if (isServing({ spec, status })) return undefined;
  const hash = specHash(spec);
  if (former?.observedGeneration === undefined) return { since: metadata.creationTimestamp, specHash: hash };
  const isOther = former.desiredHash !== undefined && former.desiredHash !== status.desiredHash;
  const continued = isOther || former.rollout?.specHash !== hash ? undefined : former.rollout;
  return { since: continued?.since ?? now.toISOString(), specHash: hash };
}

function stepConditions(
  environment: EphemeralEnvironment,
  results: StepResults,
  { conditions, now }: StatusContext,
): Condition[] {
  return conditions.flatMap((type) => {
    const result = results.get(type);
    if (result === undefined) return findCondition(environment.status?.conditions, type) ?? [];
    const message = result.state === "done" ? "" : result.message;
    return nextCondition(environment, type, { status: STATUS_OF[result.state], reason: result.reason, message }, now);
  });
}

type ConditionContent = Pick<Condition, "status" | "reason" | "message">;

/** Condition with this content for the environment's generation, after the former one in its status. */
export function nextCondition(
  environment: EphemeralEnvironment,
  type: StepCondition | InformationalCondition | "Ready",
  { status, reason, message }: ConditionContent,
  now: Date,
): Condition {
  const { generation: observedGeneration } = environment.metadata;
  const draft = { type, status, reason, message: clipped(message), observedGeneration };
  return transition(findCondition(environment.status?.conditions, type), draft, now);
}

/** False when a step failed or the deadline passed, True while the spec's workload serves, else Unknown. */
function readiness(environment: EphemeralEnvironment, context: StatusContext): ConditionContent {
  const { conditions = [], rollout } = environment.status ?? {};
  const broken = conditions.find(({ status }) => status === "False");
  if (broken) return broken;

  const open = conditions.find(({ status }) => status !== "True");
  if (rollout === undefined) return { status: "True", reason: "Ready", message: open?.message ?? "" };
  const { reason, message } = open ?? { reason: "Pending", message: "" };
  if (!isOverdue(environment, rollout.since, context)) return { status: "Unknown", reason, message };
  const lastSeen = `not ready in time, last seen: ${reason}: ${message}`;
  return { status: "False", reason: DEADLINE_EXCEEDED, message: lastSeen };
}

/** The deadline starts after the pipelines of the desired commits: before that they can't be deployed. */
function isOverdue(environment: EphemeralEnvironment, since: string, { now, settings }: StatusContext): boolean {
  const pipelines = pipelinesOfDesiredCommits(environment);
  if (pipelines.some((pipeline) => buildOf(pipeline, now) === "building")) return false;
  const starts = [new Date(since), ...pipelines.map(pipelineEnd)];
  const rolloutMs = Math.min(...starts.map((moment) => elapsedMs(moment, now)));
  return rolloutMs > settings.reconcile.creationDeadlineMinutes * MINUTE_MS;
}

const SUSPENDED =
  "the environment is suspended: it is scaled to zero and keeps its secrets and data; set spec.suspended to false to resume it";
const SUSPENDED_IN_PART =
  "the environment is suspended, but the condition ResourcesHealthy names workloads that go on; it keeps its secrets and data; set spec.suspended to false to resume it";

const ASLEEP = {
  schedule:
    "the environment is asleep by its schedule: it is scaled to zero and keeps its secrets and data; it wakes at the next hours of the schedule, at a request where the gate answers for its URLs, or when a person wakes it",
  idle: "the environment was idle and is asleep: it is scaled to zero and keeps its secrets and data; it wakes at a request where the gate answers for its URLs, when a person wakes it, or at the next begin of its hours, if it has any",
};

/**
 * Conditions that only inform; `environment.status` is the new one, with the conditions of the steps.
 *
 * @param notice problem of the application that stops nothing; absent: as before
 */
function informationalConditions(
  environment: EphemeralEnvironment,
  former: EphemeralEnvironment,
  { now, expiryRefusal, activityProblem, notice }: StatusContext & { readonly notice: Notice | undefined },
): Condition[] {
  const inform = (type: InformationalCondition, message: string) =>
    nextCondition(former, type, { status: "True", reason: type, message }, now);
  const unwell = findCondition(former.status?.conditions, "ResourcesHealthy");
  const { reason, message } = notice ?? unwell ?? { reason: "", message: "" };
  const silent = pipelinesOfDesiredCommits(environment).filter((pipeline) => buildOf(pipeline, now) === "silent");
  const silence = silent.map(
    (pipeline) =>
      `${pipelineName(pipeline)} has reported nothing for two hours: the ${pipeline.component}'s commit is deployed without it`,
  );
  return [
    ...(isAsleep(environment) && isAtRest(environment, former)
      ? [inform("Asleep", ASLEEP[asleepBy(environment)])]
      : []),
    ...(isSuspended(environment, former)
      ? [inform("Suspended", reason === "KeepsRunning" ? SUSPENDED_IN_PART : SUSPENDED)]
      : []),
    ...(silence.length > 0 ? [inform("PipelineSilent", silence.join("; "))] : []),
    ...goneBranches(environment).map((message) => inform("SourceGone", message)),
    ...(message === "" ? [] : [nextCondition(former, "ResourcesHealthy", { status: "False", reason, message }, now)]),
    ...unknownActivity(environment, activityProblem).map((message) => inform("ActivityUnknown", message)),
    ...(expiryRefusal === undefined ? [] : [inform("ExpiryRefused", expiryRefusal)]),
  ];
}

/** The problem of an environment that is awake, and would sleep when idle. */
function unknownActivity(environment: EphemeralEnvironment, problem: string | undefined): readonly string[] {
  const mayIdle = environment.status?.sleep?.afterIdleMinutes !== undefined && !isAsleep(environment);
  return problem === undefined || !mayIdle ? [] : [problem];
}

const asleepBy = ({ status }: EphemeralEnvironment) => (status?.sleep?.cause === "idle" ? "idle" : "schedule");

/** One sentence about branches deleted on their hosts, if any. */
function goneBranches({ metadata, spec }: EphemeralEnvironment): readonly string[] {
  const gone = COMPONENTS.filter((component) => {
    const branch = metadata.annotations?.[DELETED_BRANCH_ANNOTATION[component]];
    return branch !== undefined && branch === spec[component]?.branch;
  });
  if (gone.length === 0) return [];
  const branches = gone.map((component) => `the ${component}'s branch '${spec[component]?.branch}'`).join(" and ");
  return [`${branches} was deleted on its host: what runs stays, and nothing newer will come from it`];
}

/** True once what sleeps is scaled to zero; an update while asleep does not change that. */
function isAtRest(environment: EphemeralEnvironment, former: EphemeralEnvironment): boolean {
  return isServing(environment) || findCondition(former.status?.conditions, "Asleep") !== undefined;
}

/** True once the application is scaled to zero; an update while suspended does not change that. */
function isSuspended(environment: EphemeralEnvironment, former: EphemeralEnvironment): boolean {
  const { metadata, spec, status } = environment;
  if (!spec.suspended || isAsleep(environment)) return false;
  const synced = findCondition(status?.conditions, "ApplicationSynced");
  const isScaled = synced?.status === "True" && synced.observedGeneration === metadata.generation;
  return isScaled || findCondition(former.status?.conditions, "Suspended") !== undefined;
}

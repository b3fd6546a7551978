import type { Settings } from "../../../../config/settings.ts";
import {
  type Condition,
  type ConditionDraft,
  clipped,
  findCondition,
  type StepCondition,
  transition,
} from "../../../../crds/conditions.ts";
import {
  type EnvironmentStatus,
  type EphemeralEnvironment,
  observedAuditId,
} from "../../../../crds/environment/ephemeral-environment.ts";
import { expiresAt, gracePeriodEnd, ttlHours } from "../../../../crds/environment/lifetime.ts";
import { DEADLINE_EXCEEDED, phaseOf } from "../../../../crds/environment/phase.ts";
import { buildOf, pipelineEnd } from "../../../../crds/environment/pipelines.ts";
import { reconcileToken } from "../../../../crds/group.ts";
import { TTL_DEFAULT_HOURS } from "../../../../crds/schema.ts";
import { equalJson } from "../../../kit/equal-json.ts";
import { elapsedMs } from "../../../kit/time/clock.ts";
import { isServing, specHash, wantedPipelines } from "../progress.ts";
import type { Findings, ReconcilerField, StepResults } from "../step-result.ts";
import { informationalConditions } from "./informational-conditions.ts";

/** Further input of a status. */
export interface StatusContext {
  readonly now: Date;
  readonly settings: Settings;
  /** Conditions of all steps, in the order of the plan. */
  readonly conditions: readonly StepCondition[];
  readonly expiryRefusal?: string | undefined;
}

const STATUS_OF = { done: "True", waiting: "Unknown", failed: "False" } as const;
const MINUTE_MS = 60_000;

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
  const found: EnvironmentStatus = Object.assign({}, former, ...findings);
  const { rollout: _, protected: __, protectedUntil: ___, ...kept } = found;
  const timed = { ...kept, ...observedFields(environment, kept, context) };
  const rollout = rolloutOf(environment, timed, context.now);
  const status: EnvironmentStatus = {
    ...timed,
    ...(spec.protected ? { protected: true } : {}),
    ...protectionEnd(environment, context.now),
    ...(rollout === undefined ? {} : { rollout }),
  };
  const steps = stepConditions(environment, results, context);
  const current = { ...environment, status: { ...status, conditions: steps } };
  const ready = transition(findCondition(former?.conditions, "Ready"), readiness(current, context), context.now);
  const { notice } = results.get("ApplicationSynced") ?? {};
  const informed = informationalConditions(current, former?.conditions, { ...context, notice });
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
): Pick<EnvironmentStatus, ReconcilerField> {
  const defaultHours = Math.min(TTL_DEFAULT_HOURS, settings.ttl.maximumHours);
  const hours = configSetHours(environment, found, settings) ?? ttlHours(environment, defaultHours);
  const timed = { ...environment, spec: { ...environment.spec, ttlHours: environment.spec.ttlHours ?? hours } };
  const grace = gracePeriodEnd(timed, now);
  const token = reconcileToken(environment);
  return {
    observedGeneration: environment.metadata.generation,
    ...observedAuditId(environment),
    ttlHours: ttlHours(timed),
    expiresAt: expiresAt(timed).toISOString(),
    specChangedAt: specChangedAt(environment, now),
    ...(grace === undefined ? {} : { expiryNotBefore: grace.toISOString() }),
    ...(token === undefined ? {} : { lastHandledReconcileAt: token }),
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
  const begun = former.rollout;
  return { since: begun?.specHash === hash && !isOther ? begun.since : now.toISOString(), specHash: hash };
}

function stepConditions(
  environment: EphemeralEnvironment,
  results: StepResults,
  { conditions, now }: StatusContext,
): Condition[] {
  return conditions.flatMap((type) => {
    const former = findCondition(environment.status?.conditions, type);
    const result = results.get(type);
    if (result === undefined) return former ? [former] : [];
    const draft: ConditionDraft = {
      type,
      status: STATUS_OF[result.state],
      reason: result.reason,
      message: result.state === "done" ? "" : clipped(result.message),
      observedGeneration: environment.metadata.generation,
    };
    return [transition(former, draft, now)];
  });
}

/** False when a step failed or the deadline passed, True while the spec's workload serves, else Unknown. */
function readiness(environment: EphemeralEnvironment, context: StatusContext): ConditionDraft {
  const { metadata, status } = environment;
  const conditions = status?.conditions ?? [];
  const ready = (state: Condition["status"], reason: string, message: string): ConditionDraft => ({
    type: "Ready",
    status: state,
    reason,
    message: clipped(message),
    observedGeneration: metadata.generation,
  });
  const broken = conditions.find((condition) => condition.status === "False");
  if (broken) return ready("False", broken.reason, broken.message);

  const open = conditions.find((condition) => condition.status !== "True");
  if (status?.rollout === undefined) return ready("True", "Ready", open?.message ?? "");
  const { reason, message } = open ?? { reason: "Pending", message: "" };
  if (!isOverdue(environment, status.rollout.since, context)) return ready("Unknown", reason, message);
  return ready("False", DEADLINE_EXCEEDED, `not ready in time, last seen: ${reason}: ${message}`);
}

/** The deadline starts after the pipelines of the desired commits: before that they can't be deployed. */
function isOverdue(environment: EphemeralEnvironment, since: string, { now, settings }: StatusContext): boolean {
  const pipelines = wantedPipelines(environment);
  if (pipelines.some((pipeline) => buildOf(pipeline, now) === "building")) return false;
  const begun = [new Date(since), ...pipelines.map(pipelineEnd)];
  const rolloutMs = Math.min(...begun.map((moment) => elapsedMs(moment, now)));
  return rolloutMs > settings.reconcile.creationDeadlineMinutes * MINUTE_MS;
}

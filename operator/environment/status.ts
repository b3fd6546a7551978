import type { Settings } from "../../config/settings.ts";
import {
  type Condition,
  type ConditionDraft,
  clipped,
  findCondition,
  STEP_CONDITIONS,
  transition,
} from "../../crds/conditions.ts";
import {
  type EnvironmentStatus,
  type EphemeralEnvironment,
  observedAuditId,
  reconcileToken,
} from "../../crds/environment/ephemeral-environment.ts";
import { expiresAt, reprieve, ttlHours } from "../../crds/environment/lifetime.ts";
import { DEADLINE_EXCEEDED, phaseOf } from "../../crds/environment/phase.ts";
import { buildOf, pipelineEnd } from "../../crds/environment/pipelines.ts";
import { TTL_DEFAULT_HOURS } from "../../crds/environment/ttl.ts";
import { equalJson } from "../kit/equal-json.ts";
import { elapsedMs } from "../kit/time/clock.ts";
import { informationalConditions } from "./notices.ts";
import { askedHash, isServed, wantedPipelines } from "./progress.ts";
import type { StepResults } from "./step.ts";

/** When and by which rules a status is judged. */
export interface Judge {
  readonly now: Date;
  readonly settings: Settings;
  /** Why an environment is still there whose time is up, where its deletion is refused. */
  readonly expiryRefusal?: string | undefined;
}

const STATUS_OF = { done: "True", waiting: "Unknown", failed: "False" } as const;
const MINUTE_MS = 60_000;

/**
 * The status after a pass: what the steps found and how they went. A step that was not taken keeps its condition.
 * Pure, so that a pass that found nothing new yields the very status that is there, and nothing is written.
 */
export function statusAfter(environment: EphemeralEnvironment, results: StepResults, judge: Judge): EnvironmentStatus {
  const { metadata, spec } = environment;
  const former = environment.status;
  const found: EnvironmentStatus = Object.assign({}, former, ...[...results.values()].map(({ findings }) => findings));
  // A step may have settled the TTL just now: it counts as one that was asked for.
  const defaultHours = Math.min(TTL_DEFAULT_HOURS, judge.settings.ttl.maximumHours);
  const timed = {
    ...environment,
    spec: { ...spec, ttlHours: ttlHours({ ...environment, status: found }, defaultHours) },
  };
  const grace = reprieve(timed, judge.now);
  const {
    rollout: _,
    protected: __,
    ...lived
  } = {
    ...found,
    observedGeneration: metadata.generation,
    ...observedAuditId(environment),
    ttlHours: ttlHours(timed),
    expiresAt: expiresAt(timed).toISOString(),
    specChangedAt: specChangedAt(environment, judge.now),
    ...(grace === undefined ? {} : { expiryNotBefore: grace.toISOString() }),
    ...handledToken(environment),
  };
  const pursuit = pursued(environment, lived, judge.now);
  const judged: EnvironmentStatus = {
    ...lived,
    ...(spec.protected ? { protected: true } : {}),
    ...(pursuit === undefined ? {} : { rollout: pursuit }),
  };
  const steps = stepConditions(environment, results, judge.now);
  const walked = { ...environment, status: { ...judged, conditions: steps } };
  const ready = readiness(walked, judge);
  const summary = transition(findCondition(former?.conditions, "Ready"), ready, judge.now);
  const notices = informationalConditions(walked, former?.conditions, judge);
  const conditions = [...steps, ...notices, summary];
  return { ...judged, conditions, phase: phaseOf({ metadata, status: { ...judged, conditions } }) };
}

/** Whether a status says the same as the one that the API server has. */
export function sameStatus(stored: EnvironmentStatus | undefined, status: EnvironmentStatus): boolean {
  return equalJson(stored ?? {}, status);
}

/** Whether a status tells of progress alone: nothing new was asked for, and there was no verdict and there is none. */
export function isProgress({ metadata, status: former }: EphemeralEnvironment, status: EnvironmentStatus): boolean {
  const isOpen = ({ conditions }: EnvironmentStatus) => findCondition(conditions, "Ready")?.status === "Unknown";
  const isAnswer = former?.lastHandledReconcileAt !== status.lastHandledReconcileAt;
  if (isAnswer || !isOpen(status)) return false;
  return former === undefined || (former.observedGeneration === metadata.generation && isOpen(former));
}

function handledToken(environment: EphemeralEnvironment): Pick<EnvironmentStatus, "lastHandledReconcileAt"> {
  const token = reconcileToken(environment);
  return token === undefined ? {} : { lastHandledReconcileAt: token };
}

function specChangedAt({ metadata, status }: EphemeralEnvironment, now: Date): string {
  if (status?.specChangedAt === undefined) return metadata.creationTimestamp;
  return status.observedGeneration === metadata.generation ? status.specChangedAt : now.toISOString();
}

/**
 * What is wanted and does not serve yet; `undefined` while it does. The clock starts anew when something else is wanted,
 * and for no other change: an extension buys a failing environment no time.
 */
function pursued(
  environment: EphemeralEnvironment,
  status: EnvironmentStatus,
  now: Date,
): EnvironmentStatus["rollout"] {
  const { spec, metadata, status: former } = environment;
  if (isServed({ spec, status })) return undefined;
  const asked = askedHash(spec);
  if (former?.observedGeneration === undefined) return { since: metadata.creationTimestamp, asked };
  const isOther = former.desiredHash !== undefined && former.desiredHash !== status.desiredHash;
  const begun = former.rollout;
  return { since: begun?.asked === asked && !isOther ? begun.since : now.toISOString(), asked };
}

function stepConditions(environment: EphemeralEnvironment, results: StepResults, now: Date): Condition[] {
  return STEP_CONDITIONS.flatMap((type) => {
    const former = findCondition(environment.status?.conditions, type);
    const result = results.get(type);
    if (result === undefined) return former ? [former] : [];
    const judgement: ConditionDraft = {
      type,
      status: STATUS_OF[result.state],
      reason: result.reason,
      message: result.state === "done" ? "" : clipped(result.message),
      observedGeneration: environment.metadata.generation,
    };
    return [transition(former, judgement, now)];
  });
}

/** Sums the steps up: False when one failed for good or time ran out, True while what is wanted serves, else Unknown. */
function readiness(environment: EphemeralEnvironment, judge: Judge): ConditionDraft {
  const { metadata, status } = environment;
  const conditions = status?.conditions ?? [];
  const judgement = (state: Condition["status"], reason: string, message: string): ConditionDraft => ({
    ...{ type: "Ready", status: state, reason, message: clipped(message) },
    observedGeneration: metadata.generation,
  });
  const broken = conditions.find((condition) => condition.status === "False");
  if (broken) return judgement("False", broken.reason, broken.message);

  const open = conditions.find((condition) => condition.status !== "True");
  if (status?.rollout === undefined) return judgement("True", "Ready", open?.message ?? "");
  const { reason, message } = open ?? { reason: "Pending", message: "" };
  if (!isOverdue(environment, status.rollout.since, judge)) return judgement("Unknown", reason, message);
  return judgement("False", DEADLINE_EXCEEDED, `not ready in time, last seen: ${reason}: ${message}`);
}

/** Nobody can deploy a commit before it is built: the clock starts with the end of its pipeline. */
function isOverdue(environment: EphemeralEnvironment, since: string, { now, settings }: Judge): boolean {
  const pipelines = wantedPipelines(environment);
  if (pipelines.some((pipeline) => buildOf(pipeline, now) === "building")) return false;
  const begun = [new Date(since), ...pipelines.map(pipelineEnd)];
  const pursuedMs = Math.min(...begun.map((moment) => elapsedMs(moment, now)));
  return pursuedMs > settings.reconcile.creationDeadlineMinutes * MINUTE_MS;
}

import { isDeepStrictEqual } from "node:util";
import type { Settings } from "../../config/settings.ts";
import {
  type Condition,
  clipped,
  findCondition,
  type Judgement,
  STEP_CONDITIONS,
  type StepCondition,
  transition,
} from "../../crds/conditions.ts";
import type { EnvironmentSpec, EnvironmentStatus, EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";
import { RECONCILE_ANNOTATION } from "../../crds/group.ts";
import { expiresAt, reprieve, ttlHours } from "../../crds/lifetime.ts";
import { COMPONENTS } from "../../crds/names.ts";
import { DEADLINE_EXCEEDED, phaseOf } from "../../crds/phase.ts";
import { shortHash } from "./short-hash.ts";
import type { StepResult } from "./step.ts";

export type StepResults = ReadonlyMap<StepCondition, StepResult>;

/** When and by which rules a status is judged. */
export interface Judge {
  readonly now: Date;
  readonly settings: Settings;
}

const STATUS_OF = { done: "True", waiting: "Unknown", failed: "False" } as const;
const MINUTE_MS = 60_000;

/**
 * The status after a pass: what the steps found and how they went. A step that was not taken keeps its condition.
 * Pure, so that a pass that found nothing new yields the very status that is there, and nothing is written.
 */
export function statusAfter(environment: EphemeralEnvironment, results: StepResults, judge: Judge): EnvironmentStatus {
  const { metadata } = environment;
  const former = environment.status;
  const grace = reprieve(environment, judge.now);
  const found: EnvironmentStatus = Object.assign({}, former, ...[...results.values()].map(({ findings }) => findings));
  const { pursuing: _, ...lived } = {
    ...found,
    observedGeneration: metadata.generation,
    ttlHours: ttlHours(environment),
    expiresAt: expiresAt(environment).toISOString(),
    specChangedAt: specChangedAt(environment, judge.now),
    ...(grace === undefined ? {} : { expiryNotBefore: grace.toISOString() }),
    ...handledToken(environment),
  };
  const pursuit = pursued(environment, lived, judge.now);
  const judged: EnvironmentStatus = pursuit === undefined ? lived : { ...lived, pursuing: pursuit };
  const steps = stepConditions(environment, results, judge.now);
  const ready = readiness({ ...environment, status: { ...judged, conditions: steps } }, judge);
  const summary = transition(findCondition(former?.conditions, "Ready"), ready, judge.now);
  const conditions = [...steps, summary];
  return { ...judged, conditions, phase: phaseOf({ metadata, status: { ...judged, conditions } }) };
}

/** Whether two statuses say the same. */
export function sameStatus(one: EnvironmentStatus | undefined, other: EnvironmentStatus): boolean {
  return isDeepStrictEqual(normal(one), normal(other));
}

/** As it looks after a trip to the API server and back: no `undefined`, no prototypes. */
const normal = (status: EnvironmentStatus | undefined) => JSON.parse(JSON.stringify(status ?? {}));

/** Longer than any clock's text: a token that does not fit its field was never one of ours. */
const TOKEN_MAX_LENGTH = 128;

function handledToken({ metadata }: EphemeralEnvironment): Pick<EnvironmentStatus, "lastHandledReconcileAt"> {
  const token = metadata.annotations?.[RECONCILE_ANNOTATION];
  return token === undefined || token.length > TOKEN_MAX_LENGTH ? {} : { lastHandledReconcileAt: token };
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
): EnvironmentStatus["pursuing"] {
  const { spec, metadata, status: former } = environment;
  const isSettled = COMPONENTS.every((component) => isSourceSettled(spec[component], status.components?.[component]));
  if (isSettled && status.wanted !== undefined && status.answered === status.wanted) return undefined;
  const source = shortHash(COMPONENTS.map((component) => [spec[component]?.branch, spec[component]?.commit ?? ""]));
  if (former?.observedGeneration === undefined) return { since: metadata.creationTimestamp, source };
  const isOther = former.wanted !== undefined && former.wanted !== status.wanted;
  const begun = former.pursuing;
  return { since: begun?.source === source && !isOther ? begun.since : now.toISOString(), source };
}

function isSourceSettled(
  source: EnvironmentSpec["backend"] | undefined,
  settled: { readonly branch?: string; readonly commit?: string } | undefined,
): boolean {
  if (source === undefined) return true;
  return settled?.branch === source.branch && (!source.commit || settled.commit === source.commit);
}

function stepConditions(environment: EphemeralEnvironment, results: StepResults, now: Date): Condition[] {
  return STEP_CONDITIONS.flatMap((type) => {
    const former = findCondition(environment.status?.conditions, type);
    const result = results.get(type);
    if (result === undefined) return former ? [former] : [];
    const judgement: Judgement = {
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
function readiness(environment: EphemeralEnvironment, judge: Judge): Judgement {
  const { metadata, status } = environment;
  const conditions = status?.conditions ?? [];
  const judgement = (state: Condition["status"], reason: string, message: string): Judgement => ({
    ...{ type: "Ready", status: state, reason, message: clipped(message) },
    observedGeneration: metadata.generation,
  });
  const broken = conditions.find((condition) => condition.status === "False");
  if (broken) return judgement("False", broken.reason, broken.message);

  const open = conditions.find((condition) => condition.status !== "True");
  if (status?.pursuing === undefined) return judgement("True", "Ready", open?.message ?? "");
  const { reason, message } = open ?? { reason: "Pending", message: "" };
  if (!isOverdue(status.pursuing.since, judge)) return judgement("Unknown", reason, message);
  return judgement("False", DEADLINE_EXCEEDED, `not ready in time, last seen: ${reason}: ${message}`);
}

function isOverdue(since: string, { now, settings }: Judge): boolean {
  return now.getTime() - Date.parse(since) > settings.reconcile.creationDeadlineMinutes * MINUTE_MS;
}

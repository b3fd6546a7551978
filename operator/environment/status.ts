import { isDeepStrictEqual } from "node:util";
import type { Settings } from "../../config/settings.ts";
import {
  type Condition,
  findCondition,
  type Judgement,
  STEP_CONDITIONS,
  type StepCondition,
  transition,
} from "../../crds/conditions.ts";
import type { EnvironmentStatus, EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";
import { RECONCILE_ANNOTATION } from "../../crds/group.ts";
import { expiresAt, reprieve, ttlHours } from "../../crds/lifetime.ts";
import { DEADLINE_EXCEEDED, phaseOf, UPDATING } from "../../crds/phase.ts";
import type { StepResult } from "./step.ts";
import { URL_DOWN } from "./steps/availability.ts";

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
  const token = metadata.annotations?.[RECONCILE_ANNOTATION];
  const grace = reprieve(environment, judge.now);
  const found = Object.assign(
    {},
    former,
    ...[...results.values()].map(({ findings }) => findings),
  ) as EnvironmentStatus;
  const lived: EnvironmentStatus = {
    ...found,
    observedGeneration: metadata.generation,
    ttlHours: ttlHours(environment),
    expiresAt: expiresAt(environment).toISOString(),
    specChangedAt: specChangedAt(environment, judge.now),
    ...(grace === undefined ? {} : { expiryNotBefore: grace.toISOString() }),
    ...(token === undefined ? {} : { lastHandledReconcileAt: token }),
  };
  const steps = stepConditions(environment, results, judge.now);
  const ready = readiness({ ...environment, status: { ...lived, conditions: steps } }, judge);
  const summary = transition(findCondition(former?.conditions, "Ready"), ready, judge.now);
  const conditions = [...steps, summary];
  return { ...lived, conditions, phase: phaseOf({ metadata, status: { ...lived, conditions } }) };
}

/** Whether two statuses say the same. */
export function sameStatus(one: EnvironmentStatus | undefined, other: EnvironmentStatus): boolean {
  return isDeepStrictEqual(normal(one), normal(other));
}

/** As it looks after a trip to the API server and back: no `undefined`, no prototypes. */
const normal = (status: EnvironmentStatus | undefined) => JSON.parse(JSON.stringify(status ?? {}));

function specChangedAt({ metadata, status }: EphemeralEnvironment, now: Date): string {
  if (status?.specChangedAt === undefined) return metadata.creationTimestamp;
  return status.observedGeneration === metadata.generation ? status.specChangedAt : now.toISOString();
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
      message: result.state === "done" ? "" : result.message.slice(0, 2048),
      observedGeneration: environment.metadata.generation,
    };
    return [transition(former, judgement, now)];
  });
}

/** Sums the steps up: False when one failed for good or time ran out, True while the environment serves, else Unknown. */
function readiness(environment: EphemeralEnvironment, judge: Judge): Judgement {
  const conditions = environment.status?.conditions ?? [];
  const judgement = (status: Condition["status"], reason: string, message: string): Judgement => ({
    type: "Ready",
    status,
    reason,
    message,
    observedGeneration: environment.metadata.generation,
  });
  const broken = conditions.find(({ status }) => status === "False");
  if (broken) return judgement("False", broken.reason, broken.message);

  const open = STEP_CONDITIONS.map((type) => findCondition(conditions, type)).find(
    (condition) => condition?.status !== "True",
  );
  if (open === undefined && conditions.length === STEP_CONDITIONS.length) return judgement("True", "Ready", "");
  if (stillServes(environment, open)) return judgement("True", "Ready", open?.message ?? "");
  const reason = open?.reason ?? "Pending";
  const message = open?.message ?? "";
  if (!isOverdue(environment, judge)) return judgement("Unknown", reason, message);
  return judgement("False", DEADLINE_EXCEEDED, `not ready in time, last seen: ${reason}: ${message}`.slice(0, 2048));
}

/** Once ready, an environment stays so through a restarting pod or a silent URL until a step calls it failed, but not through an update. */
function stillServes({ status }: EphemeralEnvironment, open: Condition | undefined): boolean {
  if (status?.readyAt === undefined) return false;
  return (
    open === undefined || open.reason === URL_DOWN || (open.type === "ApplicationSynced" && open.reason !== UPDATING)
  );
}

function isOverdue({ metadata, status }: EphemeralEnvironment, { now, settings }: Judge): boolean {
  const since = Date.parse(status?.specChangedAt ?? metadata.creationTimestamp);
  return now.getTime() - since > settings.reconcile.creationDeadlineMinutes * MINUTE_MS;
}

import type { StepCondition } from "../../../crds/conditions.ts";
import type { EnvironmentStatus } from "../../../crds/environment/ephemeral-environment.ts";

/** Values of status fields, merged over the former status. A step's may hold only those that its `writes` names. */
export type Findings = Readonly<EnvironmentStatus>;

/** Content of the condition `ResourcesHealthy`. */
export interface Notice {
  readonly reason: "Unhealthy" | "KeepsChanging" | "KeepsRunning";
  readonly message: string;
}

interface Ended {
  readonly reason: string;
  readonly findings?: Findings;
  readonly requeueAfterMs?: number;
  /** A problem that stops nothing; absent: as before. */
  readonly notice?: Notice;
}

/** The step has reached its goal. */
export interface Done extends Ended {
  readonly state: "done";
}

/** The step runs again after `requeueAfterMs`. */
export interface Waiting extends Ended {
  readonly state: "waiting";
  /** Awaited event, for users. */
  readonly message: string;
  readonly requeueAfterMs: number;
  /** True when the findings must be stored before the next reconcile uses them. */
  readonly persistFirst?: boolean;
  /** Transient: the controller retries with backoff. */
  readonly error?: unknown;
}

/** The step can't reach its goal; it runs again when the environment is enqueued, or after `requeueAfterMs`. */
export interface Failed extends Ended {
  readonly state: "failed";
  /** Problem and remedy, for users. */
  readonly message: string;
}

/** Result of a step that is not done. */
export type Unfinished = Waiting | Failed;
/** Result of a step. */
export type StepResult = Done | Unfinished;
/** Results of the steps that ran in a reconcile. */
export type StepResults = ReadonlyMap<StepCondition, StepResult>;

export function done(reason: string, more: Pick<Done, "findings" | "requeueAfterMs"> = {}): Done {
  return { state: "done", reason, ...more };
}

export function waiting(
  reason: string,
  message: string,
  more: Pick<Waiting, "requeueAfterMs" | "persistFirst">,
): Waiting {
  return { state: "waiting", reason, message, ...more };
}

export function failed(reason: string, message: string, more: Pick<Failed, "requeueAfterMs"> = {}): Failed {
  return { state: "failed", reason, message, ...more };
}

/** The result, requeued no later than after these milliseconds, if given. */
export function requeuedWithin<R extends StepResult>(result: R, ms: number | undefined): R {
  return ms === undefined ? result : { ...result, requeueAfterMs: Math.min(ms, result.requeueAfterMs ?? ms) };
}

export function withFindings<R extends StepResult>(result: R, findings: Findings): R {
  if (Object.keys(findings).length === 0) return result;
  return { ...result, findings: { ...result.findings, ...findings } };
}

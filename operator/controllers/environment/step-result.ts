import type { StepCondition } from "../../../crds/conditions.ts";
import type { EnvironmentStatus } from "../../../crds/environment/ephemeral-environment.ts";

type StatusField = keyof EnvironmentStatus;

/** Status fields of the reconciler itself (`status.ts`, `announcements.ts`, `usage.ts`). */
export const RECONCILER_FIELDS = [
  "phase",
  "conditions",
  "observedGeneration",
  "observedAuditId",
  "ttlHours",
  "expiresAt",
  "expiryNotBefore",
  "protected",
  "protectedUntil",
  "specChangedAt",
  "rollout",
  "announced",
  "lastHandledReconcileAt",
  "manifest",
  "usage",
] as const satisfies readonly StatusField[];
export type ReconcilerField = (typeof RECONCILER_FIELDS)[number];

/** Status field of the deletion (`deletion/terminating.ts`), which also writes some of the reconciler's fields. */
export type DeletionField = "teardown";

/** Status field of the feedback (`operator/controllers/pull-request-feedback/reconcile.ts`). */
export type FeedbackField = "feedback";

/** Status field of the costs (`operator/controllers/cost-allocation/reconcile.ts`). */
export type CostField = "allocations";

/** Status fields of steps; each belongs to the step that names it in `writes`. */
export type StepField = Exclude<StatusField, ReconcilerField | DeletionField | FeedbackField | CostField>;

/** Values of status fields, merged over the former status. */
export type Findings<W extends StepField = StepField> = { readonly [F in W]?: EnvironmentStatus[F] };

/** Findings of a step that writes these fields: any other field is a type error. */
export type OwnFindings<W extends StepField> = Findings<W> & { readonly [F in Exclude<StatusField, W>]?: never };

declare const checked: unique symbol;
/** Checked findings, made only by the functions below, because a literal with a spread may hold unknown names. */
type Checked<F> = F & { readonly [checked]: true };
type Known<F> = F & { readonly [name in Exclude<keyof F, StepField | typeof checked>]: never };
type None = Record<never, never>;

interface Ended<F> {
  readonly reason: string;
  readonly findings?: Checked<F>;
  readonly requeueAfterMs?: number;
  /** A problem that stops nothing; absent: as before. */
  readonly notice?: Notice;
}

/** Content of the condition `ResourcesHealthy`. */
export interface Notice {
  readonly reason: "Unhealthy" | "KeepsChanging" | "KeepsRunning";
  readonly message: string;
}

/** The step has reached its goal. */
export interface Done<F = Findings> extends Ended<F> {
  readonly state: "done";
}

/** The step runs again after `requeueAfterMs`. */
export interface Waiting<F = Findings> extends Ended<F> {
  readonly state: "waiting";
  /** Awaited event, for users. */
  readonly message: string;
  readonly requeueAfterMs: number;
  /** True when the findings must be stored before the next reconcile uses them. */
  readonly persistFirst?: boolean;
  /** Transient: the controller retries with backoff. */
  readonly error?: unknown;
}

/**
 * The step can't reach its goal; it runs again when a watch or a new spec enqueues the environment, or after
 * `requeueAfterMs`.
 */
export interface Failed<F = Findings> extends Ended<F> {
  readonly state: "failed";
  /** Problem and remedy, for users. */
  readonly message: string;
}

/** Result of a step that is not done. */
export type Unfinished<F = None> = Waiting<F> | Failed<F>;
/** Result of a step. */
export type StepResult<F = Findings> = Done<F> | Unfinished<F>;
/** Results of the steps that ran in a reconcile. */
export type StepResults = ReadonlyMap<StepCondition, StepResult>;

export function done<F extends Findings = None>(
  reason: string,
  more: { findings?: Known<F>; requeueAfterMs?: number } = {},
): Done<F> {
  return { state: "done", reason, ...(more as { findings?: Known<F> & Checked<F>; requeueAfterMs?: number }) };
}

export function waiting(
  reason: string,
  message: string,
  more: Pick<Waiting, "requeueAfterMs" | "persistFirst">,
): Waiting<None> {
  return { state: "waiting", reason, message, ...more };
}

export function failed(reason: string, message: string, more: Pick<Failed, "requeueAfterMs"> = {}): Failed<None> {
  return { state: "failed", reason, message, ...more };
}

export function withFindings<A, B extends Findings>(result: StepResult<A>, findings: Known<B>): StepResult<A & B> {
  if (Object.keys(findings).length === 0) return result as StepResult<A & B>;
  return { ...result, findings: { ...result.findings, ...findings } } as StepResult<A & B>;
}

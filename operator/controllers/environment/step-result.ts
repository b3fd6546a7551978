import type { StepCondition } from "../../../crds/conditions.ts";
import type { EnvironmentStatus } from "../../../crds/environment/ephemeral-environment.ts";

type StatusField = keyof EnvironmentStatus;

/** The status fields that the reconciler itself computes (`status.ts`, `announcements.ts`, `usage.ts`). */
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

/** The status field that only the deletion writes (`deletion/terminating.ts`), beside some of the reconciler's. */
export type DeletionField = "teardown";

/** The status field that only the feedback writes (`operator/controllers/pull-request-feedback/reconcile.ts`). */
export type FeedbackField = "feedback";

/** The status field that only the costs write (`operator/controllers/cost-allocation/reconcile.ts`). */
export type CostField = "allocations";

/** The status fields that steps write; each belongs to the one step that names it in `writes`. */
export type StepField = Exclude<StatusField, ReconcilerField | DeletionField | FeedbackField | CostField>;

/** Values of status fields; merged over the former status. */
export type Findings<W extends StepField = StepField> = { readonly [F in W]?: EnvironmentStatus[F] };

/** The findings of a step that writes these fields: any other field is a type error. */
export type OwnFindings<W extends StepField> = Findings<W> & { readonly [F in Exclude<StatusField, W>]?: never };

declare const checked: unique symbol;
/** Findings in a result. Only the functions below make them, because a literal with a spread may hold unknown names. */
type Checked<F> = F & { readonly [checked]: true };
/** Findings without unknown names. */
type Known<F> = F & { readonly [name in Exclude<keyof F, StepField | typeof checked>]: never };
type None = Record<never, never>;

interface Ended<F> {
  readonly reason: string;
  readonly findings?: Checked<F>;
  readonly requeueAfterMs?: number;
  /** What is not well and stops nothing; absent: as before. */
  readonly notice?: Notice;
}

/** What the condition `ResourcesHealthy` says. */
export interface Notice {
  readonly reason: "Unhealthy" | "KeepsChanging" | "KeepsRunning";
  /** For users; empty while all is well. */
  readonly message: string;
}

/** The step has reached its goal. */
export interface Done<F = Findings> extends Ended<F> {
  readonly state: "done";
}

/** The step runs again after `requeueAfterMs`. */
export interface Waiting<F = Findings> extends Ended<F> {
  readonly state: "waiting";
  /** For users: what the step waits for. */
  readonly message: string;
  readonly requeueAfterMs: number;
  /** The findings must be stored before the next reconcile uses them. */
  readonly persistFirst?: boolean;
  /** A transient error: the controller retries with backoff. */
  readonly error?: unknown;
}

/** The step can't reach its goal; it runs again when a watch or a new spec enqueues the environment, or after `requeueAfterMs`. */
export interface Failed<F = Findings> extends Ended<F> {
  readonly state: "failed";
  /** For users: what is wrong and what to do. */
  readonly message: string;
}

/** How a step ended that is not done. */
export type Unfinished<F = None> = Waiting<F> | Failed<F>;
/** How a step ended. */
export type StepResult<F = Findings> = Done<F> | Unfinished<F>;
/** How the steps of one reconcile ended, as far as they ran. */
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

/** The result with more findings. */
export function withFindings<A, B extends Findings>(result: StepResult<A>, findings: Known<B>): StepResult<A & B> {
  if (Object.keys(findings).length === 0) return result as StepResult<A & B>;
  return { ...result, findings: { ...result.findings, ...findings } } as StepResult<A & B>;
}

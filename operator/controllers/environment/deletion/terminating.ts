import { type ConditionDraft, clipped, findCondition, transition } from "../../../../crds/conditions.ts";
import {
  type EnvironmentStatus,
  type EphemeralEnvironment,
  observedAuditId,
} from "../../../../crds/environment/ephemeral-environment.ts";
import { phaseOf } from "../../../../crds/environment/phase.ts";
import { FORCE_TEARDOWN_ANNOTATION, reconcileToken } from "../../../../crds/group.ts";
import { TEARDOWN_STEPS, type Teardown } from "./teardown.ts";

/** Reason of `Ready` for a late step of the deletion. */
export const DELETION_STUCK = "DeletionStuck";

type Before = NonNullable<NonNullable<EnvironmentStatus["teardown"]>["before"]>;

/** State of an environment when its deletion was requested; its conditions have been about the deletion since. */
export function beforeTeardown({ status }: Pick<EphemeralEnvironment, "status">): Before {
  if (status?.teardown?.before !== undefined) return status.teardown.before;
  const phase = phaseOf({ metadata: {}, status });
  const ready = findCondition(status?.conditions, "Ready");
  return ready?.status === "False" ? { phase, failure: ready.reason } : { phase };
}

/** Status of a terminating environment: the awaited objects, and the blockers of a stuck step. */
export function terminatingStatus(
  environment: EphemeralEnvironment,
  { steps, blockers, removals }: Teardown,
  now: Date,
): EnvironmentStatus {
  const { status, metadata } = environment;
  const isStuck = blockers.length > 0;
  const ready: ConditionDraft = {
    type: "Ready",
    status: "False",
    reason: isStuck ? DELETION_STUCK : "Terminating",
    message: clipped(message(environment, steps, isStuck)),
    observedGeneration: metadata.generation,
  };
  const others = (status?.conditions ?? []).filter(({ type }) => type !== "Ready");
  const conditions = [...others, transition(findCondition(status?.conditions, "Ready"), ready, now)];
  const teardown = {
    steps: [...steps],
    ...(isStuck ? { blockers: [...blockers] } : {}),
    ...(removals.length > 0 ? { removals: [...removals] } : {}),
    before: beforeTeardown(environment),
  };
  const token = reconcileToken(environment);
  const handled = token === undefined ? {} : { lastHandledReconcileAt: token };
  return { ...status, ...observedAuditId(environment), ...handled, phase: "terminating", conditions, teardown };
}

function message(environment: EphemeralEnvironment, steps: Teardown["steps"], isStuck: boolean): string {
  const awaited = steps.find(({ state }) => state === "waiting");
  if (awaited === undefined) return "";
  const what = `${isStuck ? "stuck at" : "waiting for"} ${awaited.name}: ${awaited.message ?? ""}`;
  return [what, forceHint(environment, awaited.name, isStuck)].filter(Boolean).join("; ");
}

/** Instruction for forcing a stuck step, or the reason why a force has no effect. */
function forceHint({ metadata }: EphemeralEnvironment, awaited: string, isStuck: boolean): string {
  const requested = metadata.annotations?.[FORCE_TEARDOWN_ANNOTATION];
  const named = clipped(requested ?? "", 64);
  if (requested !== undefined && !TEARDOWN_STEPS.includes(requested)) {
    return `${FORCE_TEARDOWN_ANNOTATION} names '${named}', which is not a step: the steps are ${TEARDOWN_STEPS.join(", ")}`;
  }
  if (isStuck) return `an admin may skip it with the annotation ${FORCE_TEARDOWN_ANNOTATION}: ${awaited}`;
  if (requested !== awaited) return "";
  return `${FORCE_TEARDOWN_ANNOTATION} names it, but it is not stuck yet`;
}

import { type ConditionDraft, clipped, findCondition, transition } from "../../../crds/conditions.ts";
import {
  type EnvironmentStatus,
  type EphemeralEnvironment,
  observedAuditId,
  reconcileToken,
} from "../../../crds/environment/ephemeral-environment.ts";
import { phaseOf } from "../../../crds/environment/phase.ts";
import { FORCE_TEARDOWN_ANNOTATION } from "../../../crds/group.ts";
import { TEARDOWN_STEPS, type Teardown } from "./teardown.ts";

/** Reason of `Ready` when a step of the deletion takes too long. */
export const DELETION_STUCK = "DeletionStuck";

type Before = NonNullable<NonNullable<EnvironmentStatus["teardown"]>["before"]>;

/** What an environment was when its deletion was asked for, although its conditions tell of the deletion since. */
export function beforeTeardown({ status }: Pick<EphemeralEnvironment, "status">): Before {
  if (status?.teardown?.before !== undefined) return status.teardown.before;
  const phase = phaseOf({ metadata: {}, status });
  const ready = findCondition(status?.conditions, "Ready");
  return ready?.status === "False" ? { phase, failure: ready.reason } : { phase };
}

/** The status of an environment on its way out: `terminating` names what it waits for, and what holds that if it is stuck. */
export function terminatingStatus(
  environment: EphemeralEnvironment,
  { steps, blockers }: Teardown,
  now: Date,
): EnvironmentStatus {
  const { status, metadata } = environment;
  const isStuck = blockers.length > 0;
  const judgement: ConditionDraft = {
    type: "Ready",
    status: "False",
    reason: isStuck ? DELETION_STUCK : "Terminating",
    message: clipped(message(environment, { steps, blockers })),
    observedGeneration: metadata.generation,
  };
  const others = (status?.conditions ?? []).filter(({ type }) => type !== "Ready");
  const conditions = [...others, transition(findCondition(status?.conditions, "Ready"), judgement, now)];
  const teardown = {
    steps: [...steps],
    ...(isStuck ? { blockers: [...blockers] } : {}),
    before: beforeTeardown(environment),
  };
  const token = reconcileToken(environment);
  const handled = token === undefined ? {} : { lastHandledReconcileAt: token };
  return { ...status, ...observedAuditId(environment), ...handled, phase: "terminating", conditions, teardown };
}

function message(environment: EphemeralEnvironment, { steps, blockers }: Teardown): string {
  const awaited = steps.find(({ state }) => state === "waiting");
  if (awaited === undefined) return "";
  const isStuck = blockers.length > 0;
  const what = `${isStuck ? "stuck at" : "waiting for"} ${awaited.name}: ${awaited.message ?? ""}`;
  return [what, forceAnswer(environment, awaited.name, isStuck)].filter(Boolean).join("; ");
}

/** What is to be said of forcing: how, when something is stuck; why not, when it was asked for in vain. */
function forceAnswer({ metadata }: EphemeralEnvironment, awaited: string, isStuck: boolean): string {
  const asked = metadata.annotations?.[FORCE_TEARDOWN_ANNOTATION];
  const named = clipped(asked ?? "", 64);
  if (asked !== undefined && !TEARDOWN_STEPS.includes(asked)) {
    return `${FORCE_TEARDOWN_ANNOTATION} names '${named}', which is no step: there are ${TEARDOWN_STEPS.join(", ")}`;
  }
  if (isStuck) return `an admin may go past it with the annotation ${FORCE_TEARDOWN_ANNOTATION}: ${awaited}`;
  if (asked !== awaited) return "";
  return `${FORCE_TEARDOWN_ANNOTATION} names it, but it is not stuck yet`;
}

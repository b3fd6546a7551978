import { clipped } from "../../../../crds/conditions.ts";
import type {
  FinalizerRemoval,
  TeardownBlocker,
  TeardownStep,
} from "../../../../crds/environment/environment-status.schema.ts";
import { elapsedMs } from "../../../kit/time/clock.ts";
import {
  ACTIONS,
  type ActionContext,
  type ActionResult,
  blockedBy,
  type DeletionTarget,
  formerStep,
  isForceRequested,
  isPast,
  isStuck,
  type TeardownContext,
  VOLUMES_STEP,
  type WaitingStep,
  withBlockers,
} from "./teardown-steps.ts";

/** Steps of a teardown, in order; any may be forced. */
export const TEARDOWN_STEPS: readonly string[] = [...new Set(ACTIONS.map(({ step }) => step))];

/** State of a deletion after one pass. */
export interface Teardown {
  readonly steps: readonly TeardownStep[];
  /** Blockers of a late step. */
  readonly blockers: readonly TeardownBlocker[];
  /** Finalizers that the platform removes in the namespace; stored before the next reconcile removes them. */
  readonly removals: readonly FinalizerRemoval[];
  /** True while the platform itself removes the blockers. */
  readonly isRemoving?: boolean | undefined;
  /** Delay of the next check, in case no watch reports. */
  readonly recheckMs?: number | undefined;
  /** Transient: retried with backoff. */
  readonly error?: unknown;
}

/** True when every step is gone (verified twice) or forced. */
export function isOver({ steps }: Teardown): boolean {
  return steps.every(isPast);
}

/**
 * Goes as far as possible: a step begins when the previous one is verified gone by a fresh read, or was forced. Past
 * steps are read again only right before the record, so waiting for one object costs one read.
 */
export async function tearDown(target: DeletionTarget, context: TeardownContext): Promise<Teardown> {
  const steps = new Map(TEARDOWN_STEPS.map((name) => [name, formerStep(target, name)]));
  let removals: readonly FinalizerRemoval[] = target.status?.teardown?.removals ?? [];
  for (const { step: name, isFor, run } of ACTIONS) {
    const former = steps.get(name) ?? formerStep(target, name);
    if (!isFor(former)) continue;
    context.signal.throwIfAborted();
    const past = { steps: [...steps.values()].filter(isPast), removals };
    const action = { ...context, waitedMs: waitedMs(former, context) };
    const { removal, error } = await attempt(name, () => run(target, action, past));
    const { step, blockers } = stepAfter(former, removal, target, action);
    steps.set(name, step);
    if ("removals" in removal) removals = removal.removals ?? [];
    nameVolumes(steps, removal);
    if (!isPast(step)) {
      const { isRemoving, recheckMs } = removal as WaitingStep;
      return { steps: [...steps.values()], blockers, removals, isRemoving, recheckMs, error };
    }
  }
  return { steps: [...steps.values()], blockers: [], removals };
}

function nameVolumes(steps: Map<string, TeardownStep>, removal: ActionResult): void {
  const volumes = steps.get(VOLUMES_STEP);
  if (volumes === undefined || !("volumes" in removal) || removal.volumes === undefined) return;
  steps.set(VOLUMES_STEP, { ...volumes, message: removal.volumes });
}

function waitedMs({ since }: TeardownStep, { clock }: TeardownContext): number {
  return since === undefined ? 0 : elapsedMs(new Date(since), clock.now());
}

/**
 * State of a step after an action. A step is stuck when it alone took too long; only then are its blockers named, in
 * words that may vary, and may it be forced.
 */
function stepAfter(
  former: TeardownStep,
  removal: ActionResult,
  target: DeletionTarget,
  context: ActionContext,
): { step: TeardownStep; blockers: TeardownBlocker[] } {
  const at = context.clock.now().toISOString();
  const { name, since = at } = former;
  if (removal.state === "forced") return forced(name, removal.left, at);
  if (removal.state === "gone") return { step: goneStep(former, removal.left, at), blockers: [] };
  if (removal.isOverdue !== true && !isStuck(context))
    return { step: { name, state: "waiting", message: clipped(removal.message), since }, blockers: [] };
  const message = clipped(withBlockers(removal));
  if (isForceRequested(target, name) && removal.forcesItself !== true) return forced(name, message, at);
  return { step: { name, state: "waiting", message, since }, blockers: blockersOf(name, removal) };
}

/** The second round finds it gone, and keeps what the first one left. */
function goneStep({ name, state, message, goneAt }: TeardownStep, left: string | undefined, at: string): TeardownStep {
  const remains = (state === "gone" ? message : undefined) ?? left;
  return { name, state: "gone", ...(remains === undefined ? {} : { message: clipped(remains) }), goneAt: goneAt ?? at };
}

function forced(name: string, message: string, goneAt: string): { step: TeardownStep; blockers: TeardownBlocker[] } {
  return { step: { name, state: "forced", message: clipped(message), goneAt }, blockers: [] };
}

/** Blockers within the status's limits: names of finalizers may be longer. */
function blockersOf(step: string, { blockers = [], message }: WaitingStep): TeardownBlocker[] {
  const named = blockers.length > 0 ? blockers : [{ kind: step, name: "", reason: "Remaining", message }];
  return named.slice(0, 16).map((blocker) => ({
    kind: clipped(blocker.kind, 64),
    name: clipped(blocker.name, 253),
    reason: clipped(blocker.reason, 128),
    message: clipped(blocker.message),
  }));
}

/** An error is reported as a blocker before it is retried. */
async function attempt(
  step: string,
  run: () => Promise<ActionResult>,
): Promise<{ removal: ActionResult; error?: unknown }> {
  try {
    return { removal: await run() };
  } catch (error) {
    return { removal: blockedBy(error, step), error };
  }
}

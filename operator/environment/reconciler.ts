import type { EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";
import { FINALIZER } from "../../crds/group.ts";
import type { Reconcile, ReconcileResult } from "../kit/controller.ts";
import type { EnvironmentLifecycle } from "../ports/environments.ts";
import { type ExpiryContext, expire } from "./expiry.ts";
import { walk } from "./pass.ts";
import { createProbeSchedule } from "./probe-schedule.ts";
import { type StepResults, sameStatus, statusAfter } from "./status.ts";
import type { Step, StepContext } from "./step.ts";
import { application } from "./steps/application.ts";
import { availability } from "./steps/availability.ts";
import { isolation } from "./steps/isolation.ts";
import { namespace } from "./steps/namespace.ts";
import { secrets } from "./steps/secrets.ts";
import { source } from "./steps/source.ts";
import { tearDown, terminatingStatus } from "./teardown.ts";

export interface ReconcilerContext extends StepContext, ExpiryContext {
  readonly lifecycle: EnvironmentLifecycle;
  /** The environment as the cache has it, by name. */
  readonly environment: (name: string) => EphemeralEnvironment | undefined;
  /** Uniform in [0, 1): spreads the recurring passes. */
  readonly random: () => number;
}

const MINUTE_MS = 60_000;
/** The watch tells when a thing is gone; this is only the net below it. */
const TEARDOWN_RECHECK_MS = 2_000;

/**
 * One pass over one environment: from whatever is there towards what is wanted, or towards nothing.
 *
 * Level-triggered: a pass reads everything again, so it does not matter which event woke it, how many were missed,
 * or where the process was killed the last time.
 */
export function createReconciler(context: ReconcilerContext): Reconcile {
  const schedule = createProbeSchedule(context.clock, context.settings.reconcile.probeSeconds * 1000);
  const plan: readonly Step[] = [namespace, isolation, secrets, source, application, availability(schedule)];

  return async (name) => {
    const environment = context.environment(name);
    if (environment === undefined) return;
    if (environment.metadata.deletionTimestamp !== undefined) {
      schedule.forget(environment.metadata.uid);
      return leave(environment, context);
    }
    const expiry = await expire(environment, context);
    if (expiry === "removing") return;
    if (expiry === "decide-again") return { recheckAfterMs: 0 };
    return advance(plan, environment, { ...context, lookAgainInMs: expiry.lookAgainInMs });
  };
}

async function advance(
  plan: readonly Step[],
  environment: EphemeralEnvironment,
  context: ReconcilerContext & { lookAgainInMs: number | undefined },
): Promise<ReconcileResult> {
  const held = isHeld(environment) ? environment : await context.lifecycle.hold(environment);
  const { results, error } = await walk(plan, held, context);
  const status = statusAfter(held, results, { now: context.clock.now(), settings: context.settings });
  if (!sameStatus(held.status, status)) await context.lifecycle.writeStatus(held, status);
  if (error !== undefined) throw error;
  return { recheckAfterMs: nextLook(results, context) };
}

async function leave(
  environment: EphemeralEnvironment,
  context: ReconcilerContext,
): Promise<ReconcileResult | undefined> {
  if (!isHeld(environment)) return;
  const steps = await tearDown(environment, context);
  if (steps.every(({ state }) => state === "gone")) {
    await context.lifecycle.release(environment);
    context.log.info("environment removed", { environment: environment.metadata.name });
    return;
  }
  const status = terminatingStatus(environment, steps, context.clock.now());
  if (!sameStatus(environment.status, status)) await context.lifecycle.writeStatus(environment, status);
  return { recheckAfterMs: TEARDOWN_RECHECK_MS };
}

const isHeld = ({ metadata }: EphemeralEnvironment) => metadata.finalizers?.includes(FINALIZER) ?? false;

/** The soonest of what the steps ask for, the expiry, and the recurring pass that repairs what no watch reports. */
function nextLook(
  results: StepResults,
  { lookAgainInMs, settings, random }: ReconcilerContext & { lookAgainInMs: number | undefined },
): number {
  const recurring = settings.reconcile.resyncMinutes * MINUTE_MS * (0.9 + 0.2 * random());
  const asked = [...results.values()].map((result) => result.recheckAfterMs ?? recurring);
  return Math.min(recurring, lookAgainInMs ?? recurring, ...asked);
}

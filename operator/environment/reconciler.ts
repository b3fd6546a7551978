import {
  type EnvironmentStatus,
  type EphemeralEnvironment,
  hasFinalizer,
} from "../../crds/environment/ephemeral-environment.ts";
import type { Reconcile, ReconcileContext, ReconcileResult } from "../kit/controller/controller.ts";
import type { OperatorEnvironments } from "../ports/environments.ts";
import { type FinalizeContext, finalize } from "./deletion/finalize.ts";
import { disagreements, type ExpiryContext, expire, sharedServerClock } from "./expiration/expiry.ts";
import { createExpirationLimiter, type LimiterContext } from "./expiration/limiter.ts";
import { createExpiryRefusals } from "./expiration/refused-deletions.ts";
import { type RunContext, runSteps } from "./run-steps.ts";
import { createSchedule } from "./schedule.ts";
import { isProgress, sameStatus, statusAfter } from "./status.ts";
import { StatusDrafts } from "./status-drafts.ts";
import type { Step, StepResults } from "./step.ts";
import { application } from "./steps/application.ts";
import { availability } from "./steps/availability.ts";
import { configuration } from "./steps/configuration.ts";
import { database } from "./steps/database.ts";
import { isolation } from "./steps/isolation.ts";
import { namespace } from "./steps/namespace.ts";
import { secrets } from "./steps/secrets.ts";
import { source } from "./steps/source.ts";

export interface ReconcilerContext
  extends Omit<RunContext, "signal">,
    Omit<FinalizeContext, "signal">,
    Omit<ExpiryContext, "limiter" | "refusals" | "tellDisagreement">,
    Pick<LimiterContext, "events"> {
  readonly environments: OperatorEnvironments;
  /** The environment as the cache has it, by name. */
  readonly environment: (name: string) => EphemeralEnvironment | undefined;
  /** Uniform in [0, 1): spreads the recurring passes. */
  readonly random: () => number;
}

const MINUTE_MS = 60_000;

/**
 * One pass over one environment: from whatever is there towards what is wanted, or towards nothing.
 *
 * Level-triggered: a pass reads everything again, so it does not matter which event woke it, how many were missed,
 * or where the process was killed the last time.
 */
export function createReconciler(context: ReconcilerContext): Reconcile {
  const { probeSeconds, resyncMinutes } = context.settings.reconcile;
  const probes = createSchedule(context.clock, probeSeconds * 1000);
  const looks = createSchedule(context.clock, resyncMinutes * MINUTE_MS);
  const drafts = new StatusDrafts(context.clock);
  const plan: readonly Step[] = [
    namespace,
    configuration,
    isolation,
    secrets(looks),
    source,
    database,
    application,
    availability(probes),
  ];
  const serverClock = sharedServerClock(context.serverClock, context.clock);
  const limiter = createExpirationLimiter(context);
  const refusals = createExpiryRefusals(context.clock);
  const expiring: ExpiryContext = {
    ...context,
    serverClock,
    limiter,
    refusals,
    tellDisagreement: disagreements(context),
  };

  // A later moment is queued by a later reconcile, so that an environment that goes sooner leaves no timer.
  const aheadMs = 2 * resyncMinutes * MINUTE_MS;

  return async (name, { signal, requeueUrgently }) => {
    const environment = context.environment(name);
    if (environment === undefined) return drafts.forget(name);
    const pass = { ...context, signal };
    if (environment.metadata.deletionTimestamp !== undefined) {
      probes.forget(environment.metadata.uid);
      looks.forget(environment.metadata.uid);
      refusals.forget(environment.metadata.uid);
      const left = drafts.continued(environment);
      drafts.forget(name);
      return finalize(left, pass);
    }
    const expiry = await expire(environment, expiring);
    if (expiry === "removing") return;
    if ("itsTurnInMs" in expiry) return requeueUrgently(expiry.itsTurnInMs);
    const { dueInMs = Number.POSITIVE_INFINITY, lookAgainInMs, refusal: expiryRefusal } = expiry;
    if (dueInMs < aheadMs) requeueUrgently(dueInMs);
    return advance(plan, environment, { ...pass, requeueUrgently, drafts, lookAgainInMs, expiryRefusal });
  };
}

interface Advance extends ReconcilerContext {
  readonly signal: AbortSignal;
  readonly requeueUrgently: ReconcileContext["requeueUrgently"];
  readonly drafts: StatusDrafts;
  /** In which something that has nothing to do with the steps wants another look. */
  readonly lookAgainInMs: number | undefined;
  /** Why an environment is still there whose time is up, where its deletion is refused. */
  readonly expiryRefusal: string | undefined;
}

async function advance(
  plan: readonly Step[],
  environment: EphemeralEnvironment,
  pass: Advance,
): Promise<ReconcileResult> {
  const { drafts, statusWriter, requeueUrgently } = pass;
  const write = (known: EphemeralEnvironment, status: EnvironmentStatus) =>
    drafts.store(known, status, () => statusWriter.writeStatus(known, status));
  const found = hasFinalizer(environment) ? environment : await statusWriter.addFinalizer(environment);
  const begun = drafts.continued(found);
  // Nobody waits for it longer because this pass takes its time.
  const due = drafts.due(found);
  const stored = due === undefined ? found : await write(found, due);
  const { results, error } = await runSteps(plan, begun, pass);
  pass.signal.throwIfAborted();
  const { settings, expiryRefusal } = pass;
  const status = statusAfter(begun, results, { now: pass.clock.now(), settings, expiryRefusal });
  const mayWait = error === undefined && !isSettling(results) && isProgress(begun, status);
  if (sameStatus(stored.status, status)) drafts.forget(found.metadata.name);
  else if (!mayWait || !drafts.postpone(stored, status, () => requeueUrgently(0))) await write(stored, status);
  if (error !== undefined) throw error;
  return nextLook(results, pass);
}

/** Whether a step goes on only from what it found when that is stored. */
function isSettling(results: StepResults): boolean {
  return [...results.values()].some((result) => result.state === "waiting" && result.persistFirst === true);
}

/** The soonest of what is asked for, and the recurring pass that repairs what no watch reports. */
function nextLook(results: StepResults, { lookAgainInMs, settings, random }: Advance): ReconcileResult {
  const recurring = settings.reconcile.resyncMinutes * MINUTE_MS * (0.9 + 0.2 * random());
  const asked = [...results.values()].map((result) => result.requeueAfterMs ?? recurring);
  return { requeueAfterMs: Math.min(recurring, lookAgainInMs ?? recurring, ...asked) };
}

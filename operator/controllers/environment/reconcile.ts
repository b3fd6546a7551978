import {
  type EnvironmentStatus,
  type EphemeralEnvironment,
  hasFinalizer,
} from "../../../crds/environment/ephemeral-environment.ts";
import type { ManifestStatus } from "../../../crds/environment/manifest.schema.ts";
import type { Announcer } from "../../announcements/announcer.ts";
import type { ControllerPorts } from "../../controller-ports.ts";
import type { Reconcile, ReconcileContext, ReconcileResult } from "../../kit/controller/controller.ts";
import { equalJson } from "../../kit/equal-json.ts";
import { type FinalizeContext, finalize } from "./deletion/finalize.ts";
import { createExpiringSoon } from "./events/expiring-soon.ts";
import { disagreementReporter, type ExpiryContext, expire, sharedServerClock } from "./expiration/expiry.ts";
import { createExpirationLimiter } from "./expiration/limiter.ts";
import { createRefusedDeletions } from "./expiration/refused-deletions.ts";
import { isRefused, manifestOf, refuse } from "./manifests/returned-manifest.ts";
import { type RunContext, runSteps } from "./run-steps.ts";
import { createSchedule } from "./schedule.ts";
import { settled, tell } from "./status/announcements.ts";
import { isProgress, sameStatus, statusAfter } from "./status/status.ts";
import { StatusDrafts } from "./status/status-drafts.ts";
import { withUsage } from "./status/usage.ts";
import type { Step } from "./step.ts";
import type { StepResults } from "./step-result.ts";
import { environmentSteps } from "./steps/index.ts";

export interface ReconcilerContext
  extends Omit<RunContext, "signal">,
    Omit<FinalizeContext, "signal">,
    Omit<ExpiryContext, "environments" | "limiter" | "refusals" | "reportDisagreement">,
    Pick<ControllerPorts, "environments" | "environment" | "random" | "records" | "events"> {
  /** Tells people of changes; `undefined` where the settings name no recipients. */
  readonly announcer: Announcer | undefined;
}

const MINUTE_MS = 60_000;

/**
 * The reconcile of an environment: towards its desired state, or towards its deletion.
 *
 * Level-triggered: every reconcile reads everything again, so it does not matter which event caused it, how many were
 * missed, or where the process was killed before.
 */
export function createReconciler(context: ReconcilerContext): Reconcile {
  const { probeSeconds, resyncMinutes } = context.settings.reconcile;
  const probes = createSchedule(context.clock, probeSeconds * 1000);
  const secretChecks = createSchedule(context.clock, resyncMinutes * MINUTE_MS);
  const drafts = new StatusDrafts(context.clock);
  const plan = environmentSteps(context.backingServices, { probes, secretChecks });
  const refusals = createRefusedDeletions(context.clock);
  const expiringSoon = createExpiringSoon(context);
  const expiryContext: ExpiryContext = {
    ...context,
    serverClock: sharedServerClock(context.serverClock, context.clock),
    limiter: createExpirationLimiter(context),
    refusals,
    reportDisagreement: disagreementReporter(context),
  };
  // An expiry further ahead is left to a later reconcile: an environment that is deleted sooner leaves no timer.
  const aheadMs = 2 * resyncMinutes * MINUTE_MS;

  /** What is remembered of an environment ends with its deletion; returns it with its latest status. */
  const forgotten = (environment: EphemeralEnvironment) => {
    const { name, uid } = environment.metadata;
    for (const memory of [probes, secretChecks, refusals, expiringSoon]) memory.forget(uid);
    const latest = drafts.continued(environment);
    drafts.forget(name);
    return latest;
  };

  const live = async (environment: EphemeralEnvironment, { signal, requeueUrgently }: ReconcileContext) => {
    const manifest = await manifestOf(drafts.continued(environment), context);
    signal.throwIfAborted();
    if (isRefused(manifest)) return refuse(environment, manifest, context);
    expiringSoon.check(environment);
    const expiry = await expire(withManifest(environment, manifest), expiryContext);
    if (expiry === "deleting") return;
    if ("retryInMs" in expiry) return requeueUrgently(expiry.retryInMs);
    const { dueInMs = Number.POSITIVE_INFINITY, recheckInMs, refusal: expiryRefusal } = expiry;
    if (dueInMs < aheadMs) requeueUrgently(dueInMs);
    const found = { ...context, signal, requeueUrgently, drafts, manifest, recheckInMs, expiryRefusal };
    return advance(plan, environment, found);
  };

  return async (name, run) => {
    const environment = context.environment(name);
    if (environment === undefined) return drafts.forget(name);
    if (environment.metadata.deletionTimestamp === undefined) return live(environment, run);
    return finalize(forgotten(environment), { ...context, signal: run.signal });
  };
}

/** The same object when nothing else is noted of its manifest than its status says. */
function withManifest(environment: EphemeralEnvironment, manifest: ManifestStatus | undefined): EphemeralEnvironment {
  const { manifest: former, ...status } = environment.status ?? {};
  if (equalJson(former, manifest)) return environment;
  return { ...environment, status: manifest === undefined ? status : { ...status, manifest } };
}

interface AdvanceContext extends ReconcilerContext {
  readonly signal: AbortSignal;
  readonly requeueUrgently: ReconcileContext["requeueUrgently"];
  readonly drafts: StatusDrafts;
  /** What is noted of the environment's manifest in Git. */
  readonly manifest: ManifestStatus | undefined;
  /** When to check the expiry again, in milliseconds. */
  readonly recheckInMs: number | undefined;
  /** Why the environment still exists although it is expired, if its deletion is refused. */
  readonly expiryRefusal: string | undefined;
}

async function advance(
  plan: readonly Step[],
  environment: EphemeralEnvironment,
  context: AdvanceContext,
): Promise<ReconcileResult> {
  const { drafts, manifest, statusWriter, requeueUrgently, clock, settings, expiryRefusal, announcer } = context;
  const write = (known: EphemeralEnvironment, status: EnvironmentStatus) =>
    drafts.store(known, status, () => statusWriter.writeStatus(known, status));
  const found = hasFinalizer(environment) ? environment : await statusWriter.addFinalizer(environment);
  const begun = withManifest(drafts.continued(found), manifest);
  // A status that has waited long enough does not wait for the steps, too.
  const due = drafts.due(found);
  const stored = due === undefined ? found : await write(found, due);
  const [told, { results, error }] = await Promise.all([
    tell(stored, begun, announcer),
    runSteps(plan, begun, context),
  ]);
  context.signal.throwIfAborted();
  const conditions = plan.map(({ condition }) => condition);
  const now = clock.now();
  const judged = statusAfter(begun, results, { now, settings, conditions, expiryRefusal });
  const after = withUsage(judged, begun, { ...context, now });
  const { status, newsInMs } = settled(begun, after, { ...told, announcer });
  const mayWait = error === undefined && !mustPersist(results) && isProgress(begun, status);
  if (sameStatus(stored.status, status)) drafts.forget(found.metadata.name);
  else if (!mayWait || !drafts.postpone(stored, status, () => requeueUrgently(0))) await write(stored, status);
  // While the status waits, so does what is told of it.
  if (newsInMs === 0 && !mayWait) requeueUrgently(0);
  const failure = error ?? told.error;
  if (failure !== undefined) throw failure;
  return requeue(results, { ...context, newsInMs });
}

function mustPersist(results: StepResults): boolean {
  return [...results.values()].some((result) => result.state === "waiting" && result.persistFirst === true);
}

/** The soonest time that a step, the expiry or a warning asks for, at the latest the periodic reconcile. */
function requeue(
  results: StepResults,
  { recheckInMs, newsInMs, settings, random }: AdvanceContext & { readonly newsInMs: number | undefined },
): ReconcileResult {
  const periodicMs = settings.reconcile.resyncMinutes * MINUTE_MS * (0.9 + 0.2 * random());
  const requested = [...results.values()].map((result) => result.requeueAfterMs ?? periodicMs);
  return { requeueAfterMs: Math.min(periodicMs, recheckInMs ?? periodicMs, newsInMs || periodicMs, ...requested) };
}

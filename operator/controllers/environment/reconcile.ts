import { findCondition } from "../../../crds/conditions.ts";
import { MINUTE_MS } from "../../../crds/durations.ts";
import {
  type EnvironmentStatus,
  type EphemeralEnvironment,
  hasFinalizer,
} from "../../../crds/environment/ephemeral-environment.ts";
import type { ManifestStatus } from "../../../crds/environment/manifest.schema.ts";
import { isServing } from "../../../crds/environment/progress.ts";
import { asRun, isAsleep, nextSleep } from "../../../crds/environment/sleep.ts";
import { requestCountsInMs } from "../../../crds/group.ts";
import type { SleepStatus } from "../../../crds/sleep.schema.ts";
import { sleepsAfter } from "../../../crds/usage/sleeps.ts";
import { announceStored, withNextAnnouncement } from "../../announcements/announcer.ts";
import { insteadOf, isForbidden } from "../../kit/client/errors.ts";
import type { Reconcile, ReconcileContext, ReconcileResult } from "../../kit/controller/controller.ts";
import { equalJson } from "../../kit/equal-json.ts";
import { openCopies } from "./database-copies.ts";
import { finalize } from "./deletion/finalize.ts";
import type { EnvironmentDependencies } from "./dependencies.ts";
import { createExpiringSoon } from "./events.ts";
import {
  createRefusedDeletions,
  disagreementReporter,
  type ExpiryContext,
  expire,
  sharedServerClock,
} from "./expiration/expiry.ts";
import { createExpirationLimiter } from "./expiration/limiter.ts";
import { isRefused, manifestOf, refuse } from "./returned-manifest.ts";
import { runSteps } from "./run-steps.ts";
import { createSchedule } from "./schedule.ts";
import { isProgress, statusAfter } from "./status/status.ts";
import { StatusDrafts } from "./status/status-drafts.ts";
import { withUsage } from "./status/usage.ts";
import type { Step } from "./step.ts";
import type { StepResults } from "./step-result.ts";
import { environmentSteps } from "./steps/index.ts";
import type { WakeLimiter } from "./wake-limiter.ts";

interface ReconcilerContext extends EnvironmentDependencies {
  readonly wakeLimiter: WakeLimiter;
}

/**
 * Reconcile of an environment: towards its desired state, or its deletion.
 *
 * Level-triggered: every reconcile reads everything again, so causes, missed events and earlier kills do not matter.
 */
export function createEnvironmentReconciler(context: ReconcilerContext): Reconcile {
  const { probeSeconds, resyncMinutes } = context.settings.reconcile;
  const probes = createSchedule(context.clock, probeSeconds * 1000);
  const secretChecks = createSchedule(context.clock, resyncMinutes * MINUTE_MS);
  const drafts = new StatusDrafts(context.statusWriter, context.clock);
  const plan = environmentSteps(context, { probes, secretChecks });
  const refusals = createRefusedDeletions(context.clock);
  const expiringSoon = createExpiringSoon(context);
  const expiryContext: ExpiryContext = {
    ...context,
    serverClock: sharedServerClock(context.serverClock, context.clock),
    limiter: createExpirationLimiter(context),
    refusals,
    reportDisagreement: disagreementReporter(context),
  };
  // Further expiries are left to a later reconcile: an earlier deletion then leaves no timer.
  const aheadMs = 2 * resyncMinutes * MINUTE_MS;

  /** Drops the memory of a terminating environment; returns it with its latest status. */
  const forget = (environment: EphemeralEnvironment) => {
    const { name, uid } = environment.metadata;
    for (const memory of [probes, secretChecks, refusals, expiringSoon]) memory.forget(uid);
    const current = drafts.continued(environment);
    drafts.forget(name);
    return current;
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
    const ofRun = { plan, signal, requeueUrgently, drafts, manifest, aheadMs, recheckInMs, expiryRefusal };
    const started = hasFinalizer(environment) ? environment : await context.statusWriter.addFinalizer(environment);
    return advance(started, { ...context, ...ofRun });
  };

  return async (name, run) => {
    const environment = context.environment(name);
    if (environment === undefined) return drafts.forget(name);
    if (environment.metadata.deletionTimestamp === undefined) return live(environment, run);
    return finalize(forget(environment), { ...context, signal: run.signal });
  };
}

const JOBS: ReadonlySet<string> = new Set(["Job", "CronJob"]);
const JOB_RECHECK_MS = MINUTE_MS;
/** The restored right may take effect a moment after it is written. */
const RIGHT_RECHECK_MS = 2_000;

/** False for a copy that waits for its source, or has failed. */
function isCopying({ status }: EphemeralEnvironment): boolean {
  const { reason = "" } = findCondition(status?.conditions, "DatabaseReady") ?? {};
  return !["WaitingForCopySource", "CopyFailed"].includes(reason);
}

/** True at the end of an update, which its next sleep waits for; a wake is one, too. */
function maySleepNext({ status: former }: EphemeralEnvironment, { sleep, rollout }: EnvironmentStatus): boolean {
  return sleep !== undefined && former?.rollout !== undefined && rollout === undefined;
}

/** The environment as it should run now, with the next state of its sleep. */
async function withSleep(environment: EphemeralEnvironment, context: AdvanceContext): Promise<EphemeralEnvironment> {
  const { sleep: former, ...status } = environment.status ?? {};
  const sleep = await sleepOf(environment, context);
  const countsInMs = requestCountsInMs(environment, context.clock.now()) ?? Number.POSITIVE_INFINITY;
  if (isAsleep(environment) && countsInMs < context.aheadMs) context.requeueUrgently(countsInMs);
  // The same state also says when a wake was due that has to wait for its turn.
  if (sleep === former) return asRun(environment);
  const inMs = Date.parse(sleep?.nextAt ?? "") - context.clock.now().getTime();
  if (inMs < context.aheadMs) context.requeueUrgently(inMs);
  if (equalJson(former, sleep)) return asRun(environment);
  return asRun({ ...environment, status: sleep === undefined ? status : { ...status, sleep } });
}

/**
 * A running Job keeps it awake, like an update, and so does a copy of its database. So does a lost right to see its pods: the
 * steps that follow restore it.
 */
async function sleepOf(environment: EphemeralEnvironment, context: AdvanceContext): Promise<SleepStatus | undefined> {
  const { clock, observedRequests, pods, requeueUrgently, settings, wakeLimiter } = context;
  const input = {
    wish: sleepWish(environment, context),
    now: clock.now(),
    isServing: isServing(environment),
    activity: observedRequests.of(environment),
    awakeAtLeastMs: settings.reconcile.awakeMinutes * MINUTE_MS,
  };
  const sleep = nextSleep(environment, input);
  if (isAsleep(environment)) return wakeLimiter.mayFollow(environment, sleep) ? sleep : environment.status?.sleep;
  if (sleep?.state !== "asleep") return sleep;
  if (openCopies(environment, context).some(isCopying)) {
    requeueUrgently(JOB_RECHECK_MS);
    return nextSleep(environment, { ...input, isServing: false });
  }
  const running = await pods.running(environment.metadata).catch(insteadOf(isForbidden, undefined));
  if (running?.some(({ kind }) => JOBS.has(kind)) === false) return sleep;
  requeueUrgently(running === undefined ? RIGHT_RECHECK_MS : JOB_RECHECK_MS);
  return nextSleep(environment, { ...input, isServing: false });
}

function sleepWish({ spec, status }: EphemeralEnvironment, { repositories, settings }: AdvanceContext) {
  const repository = repositories.find(spec.backend.repository);
  return spec.sleep ?? status?.configSet?.sleep ?? repository?.spec.sleep ?? settings.sleep;
}

/** The same object when its status already has the manifest. */
function withManifest(environment: EphemeralEnvironment, manifest: ManifestStatus | undefined): EphemeralEnvironment {
  const { manifest: former, ...status } = environment.status ?? {};
  if (equalJson(former, manifest)) return environment;
  return { ...environment, status: manifest === undefined ? status : { ...status, manifest } };
}

interface AdvanceContext extends ReconcilerContext {
  readonly plan: readonly Step[];
  readonly signal: AbortSignal;
  readonly requeueUrgently: ReconcileContext["requeueUrgently"];
  readonly drafts: StatusDrafts;
  readonly manifest: ManifestStatus | undefined;
  /** Later changes are left to a later reconcile. */
  readonly aheadMs: number;
  /** Milliseconds until the next check of the expiry. */
  readonly recheckInMs: number | undefined;
  readonly expiryRefusal: string | undefined;
}

async function advance(environment: EphemeralEnvironment, context: AdvanceContext): Promise<ReconcileResult> {
  const { drafts, manifest, requeueUrgently } = context;
  const current = await withSleep(withManifest(drafts.continued(environment), manifest), context);
  // A status that has waited long enough does not wait for the steps too.
  const base = await drafts.storeDue(environment);
  const outcome = await outcomeOf(base, current, context);
  await drafts.store(base, outcome.status, { mayWait: outcome.mayWait, requeue: () => requeueUrgently(0) });
  return requeue(outcome, context);
}

interface Outcome {
  readonly status: EnvironmentStatus;
  /** True when the status may be stored together with the next reconcile's. */
  readonly mayWait: boolean;
  readonly results: StepResults;
  /** Transient: the controller retries with backoff. */
  readonly error: unknown;
  /** True when the next reconcile follows at once. */
  readonly isUrgent: boolean;
  readonly announceInMs: number | undefined;
}

/** Announces the changes that the API server has, and runs the steps. */
async function outcomeOf(
  base: EphemeralEnvironment,
  current: EphemeralEnvironment,
  context: AdvanceContext,
): Promise<Outcome> {
  const { plan, signal, announcer } = context;
  const [announcement, { results, error }] = await Promise.all([
    announceStored(base, current, announcer),
    runSteps(plan, current, signal),
  ]);
  signal.throwIfAborted();
  const next = statusOf(current, results, context);
  const { status, announceInMs } = withNextAnnouncement(current, next, { ...announcement, announcer });
  const mayWait = error === undefined && !mustPersist(results) && isProgress(current, status);
  // While the status waits, so do its announcements.
  const isUrgent = maySleepNext(current, next) || (announceInMs === 0 && !mayWait);
  return { status, mayWait, results, error: error ?? announcement.error, isUrgent, announceInMs };
}

/** Status after the steps, with usage and sleeps, and without announcements. */
function statusOf(environment: EphemeralEnvironment, results: StepResults, context: AdvanceContext) {
  const conditions = context.plan.map(({ condition }) => condition);
  const activityProblem = context.observedRequests.problem();
  const current = { ...context, now: context.clock.now(), conditions, activityProblem };
  const status = withUsage(statusAfter(environment, results, current), environment, current);
  const sleeps = sleepsAfter(environment, status, current.now);
  return sleeps === undefined ? status : { ...status, sleeps };
}

function mustPersist(results: StepResults): boolean {
  return [...results.values()].some((result) => result.state === "waiting" && result.persistFirst === true);
}

/** Earliest time requested by a step, the expiry or a warning, at most the resync period. */
function requeue(
  { results, error, isUrgent, announceInMs }: Outcome,
  { requeueUrgently, recheckInMs, settings, random }: AdvanceContext,
): ReconcileResult {
  if (isUrgent) requeueUrgently(0);
  if (error !== undefined) throw error;
  const periodicMs = settings.reconcile.resyncMinutes * MINUTE_MS * (0.9 + 0.2 * random());
  const requested = [...results.values()].map((result) => result.requeueAfterMs ?? periodicMs);
  return { requeueAfterMs: Math.min(periodicMs, recheckInMs ?? periodicMs, announceInMs || periodicMs, ...requested) };
}

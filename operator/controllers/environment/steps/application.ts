import type { Settings } from "../../../../config/settings.ts";
import { findCondition } from "../../../../crds/conditions.ts";
import { selectorsOf } from "../../../../crds/environment/component-selectors.ts";
import { componentsOf, type EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { isAppliedAsSpecified, specHash } from "../../../../crds/environment/progress.ts";
import { namespaceName } from "../../../../crds/names.ts";
import { titleOf } from "../../../../crds/object-title.ts";
import { oncePer } from "../../../../crds/once-per.ts";
import { sourceAt } from "../../../../crds/repository/chart-source.ts";
import { isMovingTag } from "../../../../crds/repository/image-tag.ts";
import { chartSourceOf, type Repository, tagTemplateOf } from "../../../../crds/repository/repository.ts";
import { knowsSuspension, readableMapping } from "../../../../crds/repository/values-mapping.ts";
import { type Clock, elapsedMs } from "../../../kit/time/clock.ts";
import type { Deployer, DesiredApplication, NamedObject, ObservedApplication } from "../../../ports/deployer.ts";
import { POD_PROBLEM_REASONS, type Pods, type QuietProblem } from "../../../ports/pods.ts";
import { environmentValues, hashOfDesired } from "../desired/values.ts";
import { type DiagnosisDependencies, diagnoseApplication } from "../diagnosis.ts";
import { forbiddenOverride } from "../overrides.ts";
import { firstDataProblems, isFirstDataPending, type PlanSources, planInput } from "../plan-input.ts";
import { componentRepositories } from "../repositories.ts";
import type { Step } from "../step.ts";
import {
  done,
  type Findings,
  type Notice,
  requeuedWithin,
  type StepResult,
  type StepResults,
  type Unfinished,
  type Waiting,
  waiting,
  withFindings,
} from "../step-result.ts";
import { type ChartLoginDependencies, ensureConfined } from "./chart-login.ts";
import { scaleAtWake, type WakeDependencies } from "./scale-at-wake.ts";

interface ApplicationDependencies
  extends PlanSources,
    DiagnosisDependencies,
    ChartLoginDependencies,
    WakeDependencies {}

/**
 * Deploys the chart with the environment's values, and waits until it is healthy. The deployer's project comes first:
 * it limits the application to its namespace, its chart and the allowed kinds.
 */
export function application(dependencies: ApplicationDependencies): Step {
  return {
    condition: "ApplicationSynced",
    writes: ["components", "deployerApp", "desiredHash", "renderedSpecHash"],
    after: ["ConfigurationResolved", "IsolationReady", "SecretsReady", "SourceResolved"],

    async run(environment, { earlier }) {
      const withheld = withheldResult(environment, dependencies);
      if (withheld !== undefined) return withheld;
      const desired = desiredApplication(environment, dependencies);
      const lacking = await ensureConfined(environment, desired, dependencies);
      // Of what has never been deployed Argo CD could only say that it can't read the chart.
      if (lacking !== undefined && environment.status?.desiredHash === undefined) return lacking;
      await dependencies.deployer.ensure(desired);
      const hash = hashOfDesired(desired.chart, desired.values);
      await scaleAtWake(environment, desired, dependencies);
      const result = await healthOf(environment, desired, { hash, context: dependencies });
      const deployerApp = namespaceName(environment.metadata.name);
      const findings = { deployerApp, desiredHash: hash, ...renderedSpec(environment, earlier, dependencies) };
      return withFindings(withLacking(withoutFirstData(result, environment, dependencies), lacking), findings);
    },
  };
}

/** Fallback for the watch of what the first data comes from. */
const WITHHELD_RECHECK_MS = 30_000;

/**
 * Result while a database can't be made with its data; `undefined` otherwise. Deployed now, it would begin empty. The
 * application stays as it is: with former values a copy that has just been made would be removed.
 */
function withheldResult(environment: EphemeralEnvironment, dependencies: ApplicationDependencies): Waiting | undefined {
  const { problem, obstacle } = firstDataProblems(planInput(environment, dependencies), dependencies.settings);
  const isDeployed = environment.status?.desiredHash !== undefined;
  const reason = obstacle ?? (isDeployed ? undefined : problem);
  if (reason === undefined) return undefined;
  const { requeueAfterMs = WITHHELD_RECHECK_MS } = reason;
  return waiting("WaitingForData", "waiting for the data of the database: see the condition DatabaseReady", {
    requeueAfterMs,
  });
}

/** Time until the next values, which the deployer is given as soon as the status says that the data is loaded. */
const NEXT_VALUES_MS = 1_000;

/**
 * Data that was loaded leaves the values, and is in the status before: the environment is not ready until then, or it would be
 * updated as soon as it is.
 */
function withoutFirstData(
  result: StepResult,
  environment: EphemeralEnvironment,
  dependencies: ApplicationDependencies,
): StepResult {
  const input = planInput(environment, dependencies);
  if (result.state !== "done" || !isFirstDataPending(input, dependencies.settings)) return result;
  return waiting("Syncing", "waiting for values without the load of the first data", {
    requeueAfterMs: NEXT_VALUES_MS,
  });
}

/** Pause between reads of a lacking credential while the application is well. */
const LACKING_RECHECK_MS = 60_000;

/** A lacking login explains what is not well; what is well goes on, and its Repository reports what is lacking. */
function withLacking(result: StepResult, lacking: Unfinished | undefined): StepResult {
  if (lacking === undefined) return result;
  if (result.state === "done") return requeuedWithin(result, LACKING_RECHECK_MS);
  const { reason, message, requeueAfterMs = LACKING_RECHECK_MS } = lacking;
  return requeuedWithin({ ...result, reason, message }, requeueAfterMs);
}

/** The spec counts as rendered only where everything that it requests is granted. */
function renderedSpec(environment: EphemeralEnvironment, earlier: StepResults, sources: ChartSources): Findings {
  const { repositories, configSet } = planInput(environment, sources);
  const mapping = readableMapping({ repositories, configSet }, sources.settings);
  // While the requested secrets are refused, pods have the former ones.
  const hasRequestedSecrets = earlier.get("SecretsReady")?.state === "done";
  const isGranted = hasRequestedSecrets && forbiddenOverride(environment, { repositories, mapping }) === undefined;
  return isGranted ? { renderedSpecHash: specHash(environment.spec) } : {};
}

interface ChartSources extends PlanSources {
  readonly settings: Settings;
}

/** Desired application of the environment; rendered once per run, whose steps share the environment object. */
export const desiredApplication = oncePer(
  (environment: EphemeralEnvironment, sources: ChartSources): DesiredApplication => {
    const { settings } = sources;
    const input = planInput(environment, sources);
    const { name, uid } = environment.metadata;
    // No autoscaler holds the pods of a chart that is scaled to zero.
    const isScaledToZero = environment.spec.suspended === true && knowsSuspension(readableMapping(input, settings));
    return {
      environment: { name, uid },
      chart: sourceAt(
        chartSourceOf(input.repositories, settings),
        environment.status?.sources?.backend?.applied?.commit,
      ),
      values: environmentValues(input, settings),
      sources: sourcesOf(environment),
      leavesReplicas: !isScaledToZero,
    };
  },
);

function sourcesOf(environment: EphemeralEnvironment): DesiredApplication["sources"] {
  const sources = componentsOf(environment).map((component) => {
    const { branch = "", commit = "" } = environment.status?.sources?.[component]?.applied ?? {};
    return [component, { branch, commit }];
  });
  return Object.fromEntries(sources);
}

/** Time of a hook before something newer ends its sync. */
const HOOK_GRACE_MS = 30_000;

/** Ends an outdated sync: the deployer begins no other before; a hook may never end, and pauses between attempts grow. */
async function endOutdatedSync(
  { metadata }: EphemeralEnvironment,
  { waitingSync, hasOutdatedRetries = false }: Partial<ObservedApplication>,
  { clock, deployer }: ApplicationDependencies,
): Promise<void> {
  const waitsLong = waitingSync?.isOutdated && elapsedMs(waitingSync.since, clock.now()) >= HOOK_GRACE_MS;
  if (waitsLong || hasOutdatedRetries) await deployer.endSync(metadata);
}

/** The application, after Jobs that its sync could not change have made way, and those of them that still run. */
async function withJobsReplaced(desired: DesiredApplication, deployer: Deployer) {
  const observed = deployer.observe(desired);
  if (!observed?.hasUnchangedJobs) return { observed, running: [] };
  const running = await deployer.replaceJobs(desired);
  return { observed: deployer.observe(desired), running };
}

/** Jobs are not watched. */
const JOB_RECHECK_MS = 10_000;

function waitingForJobs(running: readonly NamedObject[], { message }: ObservedApplication): Unfinished {
  const names = running.map(titleOf).join(", ");
  return waiting("SyncWaiting", `the sync waits for ${names} to end, to make it anew; before, ${message}`, {
    requeueAfterMs: JOB_RECHECK_MS,
  });
}

/** Done once all that carries traffic is healthy; else its problem, and whether that is final. */
async function healthOf(
  environment: EphemeralEnvironment,
  desired: DesiredApplication,
  { hash, context }: { readonly hash: string; readonly context: ApplicationDependencies },
) {
  const { observed, running } = await withJobsReplaced(desired, context.deployer);
  await endOutdatedSync(environment, observed ?? {}, context);
  if (running.length > 0 && observed?.state === "broken") return waitingForJobs(running, observed);
  if (observed?.state === "healthy") return synced({ environment, observed, hash, quiet: [] }, context);
  const unhealthy = { environment, desired, hash, observed, mayFail: mayFail(environment, hash) };
  const result = await diagnoseApplication(unhealthy, context);
  return result.state === "serving" ? synced({ environment, hash, ...result }, context) : result;
}

/** Prefix of a commit, a version, or a digest without its algorithm. */
const shortRevision = (revision: string) => revision.replace(/^sha256:/, "").slice(0, 12);

interface Synced {
  readonly environment: EphemeralEnvironment;
  readonly observed: ObservedApplication;
  readonly hash: string;
  readonly quiet: readonly QuietProblem[];
}

async function synced({ environment, observed, hash, quiet }: Synced, context: ApplicationDependencies) {
  const unstable = serves(environment, hash) ? unstableResult(environment, observed, context.clock.now()) : undefined;
  if (unstable !== undefined) return unstable;
  const revision = `${shortRevision(observed.revision)}+${hash}`;
  const result = await syncedResult(environment, revision, context);
  const { running, recheckMs } = await runningWhileSuspended(environment, context);
  return { ...requeuedWithin(result, recheckMs), notice: noticeOf(observed, quiet, running) };
}

const GOES_ON =
  "while the environment is suspended: the chart gives it pods; give its number of them a reference, such as " +
  "${replicas.orZero(1)}, in the chart's values";

function noticeOf(
  { keepsChanging = [] }: ObservedApplication,
  quiet: readonly QuietProblem[],
  running: readonly NamedObject[],
): Notice {
  const changing =
    "keeps changing: something else changes or removes it, and the deployer puts it back each time; leave the field to one of them";
  const sentences = [
    ...running.map((one) => `${titleOf(one)} goes on ${GOES_ON}`),
    ...quiet.map((one) => `${titleOf(one)} ${one.what}`),
    ...keepsChanging.map((one) => `${titleOf(one)} ${changing}`),
  ];
  const reason = keepsChanging.length > 0 ? "KeepsChanging" : "Unhealthy";
  return { reason: running.length > 0 ? "KeepsRunning" : reason, message: sentences.join("; ") };
}

/** A container looks healthy between two crashes: a reported problem ends after this time without one. */
const STABLE_MS = 60_000;

/** Pod problem of a healthy application until it is stable; otherwise each crash costs two writes. */
function unstableResult(
  { status }: EphemeralEnvironment,
  { since }: ObservedApplication,
  now: Date,
): Unfinished | undefined {
  const former = findCondition(status?.conditions, "ApplicationSynced");
  const isReported = former?.status === "Unknown" && POD_PROBLEM_REASONS.some((reason) => reason === former.reason);
  if (!isReported || since === undefined) return undefined;
  const leftMs = STABLE_MS - elapsedMs(since, now);
  return leftMs > 0 ? waiting(former.reason, former.message, { requeueAfterMs: leftMs }) : undefined;
}

/**
 * True when a problem of the application may fail the environment. A serving one fails only by its URLs, not by an
 * absent deployer or a restarting pod; and values that bridge a build differ from the spec.
 */
export function mayFail(environment: EphemeralEnvironment, hash: string): boolean {
  return !serves(environment, hash) && isAppliedAsSpecified(environment);
}

function serves({ status }: EphemeralEnvironment, hash: string): boolean {
  return status?.readyAt !== undefined && status.servingHash === hash;
}

/** A rollout missing in the pods ends within seconds; a chart may never show its pods' commit. */
const COMMIT_RECHECK_MS = { other: 10_000, unknown: 300_000 };

async function syncedResult(environment: EphemeralEnvironment, revision: string, context: ApplicationDependencies) {
  const running = await runningCommits(environment, revision, context);
  const components = running.map(({ component, image, commit }) => {
    return [component, { ...(commit === undefined ? {} : { commit }), image, revision }];
  });
  const open = running.filter(({ commit, applied }) => commit !== applied);
  const isOther = open.some(({ commit }) => commit !== undefined);
  const recheck = open.length === 0 ? {} : { requeueAfterMs: COMMIT_RECHECK_MS[isOther ? "other" : "unknown"] };
  return done("Synced", { findings: { components: Object.fromEntries(components) }, ...recheck });
}

/** Running commits. Under a constant image tag only pods may show them, and are read until they show the applied ones. */
async function runningCommits(environment: EphemeralEnvironment, revision: string, context: ApplicationDependencies) {
  const { spec, status } = environment;
  const repositories = componentRepositories(environment, context.repositories);
  const given = componentsOf(environment).map((component) => {
    const { commit: applied, image } = status?.sources?.[component]?.applied ?? {};
    const former = status?.components?.[component];
    const isMoving = isMovingTag(tagTemplateOf(repositories[component] as Repository));
    const isNamed = !isMoving || spec.suspended || (former?.revision === revision && former.commit === applied);
    return { component, applied, image, isNamed };
  });
  const isKnown = given.every(({ isNamed }) => isNamed);
  const shown = isKnown
    ? new Map<string, string>()
    : await context.pods.commits(environment.metadata, selectorsOf(environment, context));
  return given.map((one) => ({ ...one, commit: one.isNamed ? one.applied : shown.get(one.component) }));
}

/** Time for pods to end after the chart was scaled to zero. */
const GRACE_MS = 15_000;
/** Limit of checks without pods: thousands of environments may be suspended. */
const LOOK_MS = 120_000;
/** Running pods may end without a watched change. */
const RECHECK_MS = 300_000;

/** Workloads that keep pods in a suspended, synced environment, and the delay of the next check, if any. */
export async function runningWhileSuspended(
  environment: EphemeralEnvironment,
  { clock, pods }: { readonly clock: Clock; readonly pods: Pods },
) {
  if (!environment.spec.suspended) return { running: [] };
  const asleepMs = elapsedMs(asleepSince(environment, clock.now()), clock.now());
  const isReported = findCondition(environment.status?.conditions, "ResourcesHealthy")?.reason === "KeepsRunning";
  if (asleepMs > LOOK_MS && !isReported) return { running: [] };
  const running = await pods.running(environment.metadata);
  if (running.length === 0) return { running };
  return asleepMs < GRACE_MS ? { running: [], recheckMs: GRACE_MS - asleepMs } : { running, recheckMs: RECHECK_MS };
}

/** Start of the suspension in its current form; now if it is not stored yet. */
function asleepSince({ status }: EphemeralEnvironment, now: Date): Date {
  const times = (["Suspended", "ApplicationSynced"] as const).map((type) => {
    const condition = findCondition(status?.conditions, type);
    return condition?.status === "True" ? Date.parse(condition.lastTransitionTime) : now.getTime();
  });
  return new Date(Math.max(...times));
}

import type { Settings } from "../../../config/settings.ts";
import { type Condition, clipped, findCondition, type StepCondition } from "../../../crds/conditions.ts";
import { componentBuild } from "../../../crds/environment/component-build.ts";
import { selectorsOf } from "../../../crds/environment/component-selectors.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { COMPONENTS, namespaceName, shortCommit } from "../../../crds/names.ts";
import { titleOf } from "../../../crds/object-title.ts";
import { CONDITION_MESSAGE_MAX_LENGTH } from "../../../crds/schema.ts";
import { type Clock, elapsedMs } from "../../kit/time/clock.ts";
import type {
  Deployer,
  DeploymentProblem,
  DesiredApplication,
  NamedObject,
  ObservedApplication,
  WaitingSync,
} from "../../ports/deployer.ts";
import type { Diagnosis, PodProblem, PodProblemReason, Pods, QuietProblem } from "../../ports/pods.ts";
import type { Repositories } from "../../ports/repositories.ts";
import type { BackingService } from "./backing-services/backing-service.ts";
import { failed, type Unfinished, waiting } from "./step-result.ts";

/** Fallback for the deployer's watch. */
const RECHECK_MS = 30_000;
/** Most applications are healthy by then; only the others have their pods read. */
const DIAGNOSE_AFTER_MS = 10_000;
/** A working deployer compares within seconds. */
const SILENT_MS = 120_000;
/** Age at which a problem is reported, although it may still pass. */
const REPORT_AFTER_MS = 30_000;
/** Most hooks have ended by then; longer waits are named. */
const NAME_HOOK_AFTER_MS = 20_000;
const DEGRADED_TOLERANCE_MS = 120_000;
/**
 * Age at which each problem fails the rollout. Before it, pulls and refused pods are retried, a node may be added, and
 * an application may start, for which the chart allows five minutes.
 */
const TOLERANCE_MS: Readonly<Record<PodProblemReason, number>> = {
  ImagePullFailed: 30_000,
  ContainerMisconfigured: 30_000,
  CrashLoop: 0,
  JobFailed: 0,
  QuotaExceeded: 30_000,
  PodRefused: 30_000,
  VolumeMissing: 120_000,
  Unschedulable: 300_000,
  ProbeFailing: 300_000,
  ResourceDegraded: 120_000,
  // The rollout's deadline ends it.
  ResourceNotReady: Number.POSITIVE_INFINITY,
};

/** The settings and ports of a diagnosis. */
export interface DiagnosisDependencies {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly deployer: Deployer;
  readonly pods: Pods;
  readonly repositories: Repositories;
  /** The backing services that environments may have. */
  readonly backingServices: readonly BackingService[];
}

/** Pods of an unhealthy application. */
interface UnhealthyPods {
  readonly environment: EphemeralEnvironment;
  readonly hash: string;
  /** `undefined` before the deployer's watch has seen the application. */
  readonly observed: ObservedApplication | undefined;
  /** True when a problem may fail the environment; a serving one fails only by its URLs. */
  readonly mayFail: boolean;
  /**
   * The one component to diagnose, for its own condition; absent: all, for `ApplicationSynced`. With
   * `job`, its other Jobs are former ones, which stay until the sync ends.
   */
  readonly only?: { readonly component: string; readonly condition: StepCondition; readonly job?: string };
}

interface Case extends UnhealthyPods {
  /** Condition of the last reconcile, if it was about the same values. */
  readonly former: Condition | undefined;
  readonly unhealthyMs: number;
}

/** A usable environment whose problems affect no traffic. */
interface QuietProblems {
  readonly state: "serving";
  readonly observed: ObservedApplication;
  readonly quiet: readonly QuietProblem[];
}

/**
 * Diagnosis of an unhealthy application: a message with a remedy, a stable reason, and a failure once the problem is
 * too old to pass by itself. A failure stays until the application is healthy or has another problem: a retry or
 * restart is no recovery.
 */
export async function diagnoseApplication(
  application: UnhealthyPods & { readonly desired: DesiredApplication },
  context: DiagnosisDependencies,
): Promise<Unfinished | QuietProblems> {
  const one = caseOf(application, context.clock);
  const { state, problem, waitingSync } = application.observed ?? { state: "unseen" };
  if (waitingSync !== undefined && runningMs(waitingSync, context.clock) >= NAME_HOOK_AFTER_MS) {
    return awaited(one, waitingSync, context);
  }
  if (state === "unseen") return unseen(one);
  if (state === "waiting") return syncing(one, waitingSync === undefined ? RECHECK_MS : NAME_HOOK_AFTER_MS);
  if (problem !== undefined && problem !== "DeploymentFailed") {
    return refused(one, application.desired, problem, context);
  }
  return diagnosedPods(one, context);
}

/** Diagnosis of a deployed application's unready pods. */
export async function diagnosePods(unhealthy: UnhealthyPods, context: DiagnosisDependencies): Promise<Unfinished> {
  const one = caseOf(unhealthy, context.clock);
  const result = await diagnosedPods(one, context);
  return result.state === "serving"
    ? waiting("Progressing", messageOf(one), { requeueAfterMs: recheckMs(one) })
    : result;
}

function caseOf(unhealthy: UnhealthyPods, clock: Clock): Case {
  const { status } = unhealthy.environment;
  const condition = unhealthy.only?.condition ?? "ApplicationSynced";
  const former = status?.desiredHash === unhealthy.hash ? findCondition(status.conditions, condition) : undefined;
  if (former === undefined || former.status === "True") return { ...unhealthy, former, unhealthyMs: 0 };
  const since = Math.max(Date.parse(former.lastTransitionTime), Date.parse(status?.rollout?.since ?? "") || 0);
  return { ...unhealthy, former, unhealthyMs: elapsedMs(new Date(since), clock.now()) };
}

const messageOf = ({ observed }: Case) => observed?.message ?? "waiting for the deployer to pick the application up";

function formerFailure({ former, mayFail }: Case): Unfinished | undefined {
  if (former?.status !== "False" || !mayFail) return undefined;
  return failed(former.reason, former.message, { requeueAfterMs: RECHECK_MS });
}

/** Problems after which the deployer retries; their age includes the retries. */
const RETRIED: readonly string[] = [
  "ChartInvalid",
  "SyncFailed",
  "QuotaExceeded",
  "QuotaUncounted",
  "DeployerUnavailable",
];
/** Problems that the environment did not cause: a missing part of the deployer, or a slow cluster. */
const TRANSIENT: readonly DeploymentProblem[] = ["DeployerUnavailable", "QuotaUncounted"];

function syncing(one: Case, requeueAfterMs: number): Unfinished {
  const { former } = one;
  const isRetry = former?.status === "Unknown" && RETRIED.includes(former.reason);
  const { reason, message } = isRetry ? former : { reason: "Syncing", message: messageOf(one) };
  return formerFailure(one) ?? waiting(reason, message, { requeueAfterMs });
}

function unseen(one: Case): Unfinished {
  const { environment, unhealthyMs, former } = one;
  if (unhealthyMs < SILENT_MS && former?.reason !== "DeployerSilent") {
    return syncing(one, Math.min(RECHECK_MS, SILENT_MS - unhealthyMs));
  }
  const message =
    `the deployer has not processed application '${namespaceName(environment.metadata.name)}' for ${SILENT_MS / 60_000} minutes: ` +
    `check that its application-controller runs; ${messageOf(one)}`;
  return waiting("DeployerSilent", message, { requeueAfterMs: RECHECK_MS });
}

const runningMs = ({ since }: WaitingSync, clock: Clock) => elapsedMs(since, clock.now());

/** Names what a late sync waits for, with its last lines, and ends hooks that take too long. */
async function awaited(one: Case, sync: WaitingSync, context: DiagnosisDependencies): Promise<Unfinished> {
  const { settings, clock, deployer, pods } = context;
  const { hookSeconds } = settings.reconcile;
  const { objects } = sync;
  const isHook = objects.some(({ hook }) => hook !== undefined);
  const leftMs = hookSeconds * 1_000 - runningMs(sync, clock);
  const names = objects.length === 0 ? "an object that it names in its own log" : objects.map(titleOf).join(", ");
  const sources = objects.map((object) => logSourceFor(one, object, pods));
  if (isHook && leftMs <= 0) {
    await deployer.endSync(one.environment.metadata);
    const summary = `${names} did not end within ${hookSeconds} s, and was ended: see its last lines; a hook has to end`;
    const message = await reportMessage(one, { reason: "HookTimedOut", summary, sources, isFinal: one.mayFail });
    return failedOrWaiting(one.mayFail, "HookTimedOut", { message, requeueAfterMs: RECHECK_MS });
  }
  const failure = formerFailure(one);
  if (failure !== undefined) return failure;
  const { problems } = await pods.diagnose(one.environment.metadata, [], selectorsOf(one.environment, context));
  const own = problems.filter(({ object }) =>
    objects.some(({ kind, name }) => object.kind === kind && object.name === name),
  );
  const why = own.map(({ what, remedy }) => `; ${what}: ${remedy}`).join("");
  const end = isHook ? `, for ${hookSeconds} s at most` : "";
  const summary = `the sync waits for ${names}${isHook ? " to end" : " to be healthy"}${end}${why}`;
  const reason = isHook ? "HookRunning" : "SyncWaiting";
  const evidence = own.length === 0 ? sources : own.map(logSourceOf);
  const message = await reportMessage(one, { reason, summary, sources: evidence, isFinal: false });
  const requeueAfterMs = isHook ? Math.min(RECHECK_MS, Math.max(1_000, leftMs)) : RECHECK_MS;
  return waiting(reason, message, { requeueAfterMs });
}

interface LogSource {
  readonly title: string;
  readonly evidence: () => Promise<string>;
}

const logSourceFor = ({ environment }: Case, object: NamedObject, pods: Pods): LogSource => ({
  title: titleOf({ kind: object.kind, name: object.name }),
  evidence: () => pods.lastOutput(environment.metadata, object),
});

/** The deployer has given up on these values, so a retry is requested. */
async function refused(
  one: Case,
  desired: DesiredApplication,
  problem: DeploymentProblem,
  context: DiagnosisDependencies,
): Promise<Unfinished> {
  const { former, observed } = one;
  const { clock, deployer, pods } = context;
  const isKnown = former !== undefined && former.status !== "True" && former.reason === problem;
  const retryInMs = await deployer.retry(desired, isKnown ? new Date(former.lastTransitionTime) : clock.now());
  const requeueAfterMs = Math.min(RECHECK_MS, Math.max(1_000, retryInMs));
  const isFinal = one.mayFail && !TRANSIENT.includes(problem);
  const sources = (observed?.failedHooks ?? []).map((hook) => logSourceFor(one, hook, pods));
  const message = await reportMessage(one, { reason: problem, summary: messageOf(one), sources, isFinal });
  return failedOrWaiting(isFinal, problem, { message, requeueAfterMs });
}

async function diagnosedPods(one: Case, context: DiagnosisDependencies): Promise<Unfinished | QuietProblems> {
  const { observed } = one;
  const startingMs = isStarting(one) ? DIAGNOSE_AFTER_MS - one.unhealthyMs : 0;
  if (startingMs > 0) return waiting("Progressing", messageOf(one), { requeueAfterMs: startingMs });
  const diagnosis = await context.pods.diagnose(
    one.environment.metadata,
    observed?.kinds ?? [],
    selectorsOf(one.environment, context),
  );
  if (observed !== undefined && isExplained(diagnosis, observed)) {
    return { state: "serving", observed, quiet: diagnosis.quiet };
  }
  return unhealthyPods(one, problemsOf(one, diagnosis, context.backingServices), context.clock.now());
}

/** True when the pods may simply be starting. */
const isStarting = (one: Case) => one.observed?.state !== "broken" && one.former?.status !== "False" && !wasQuiet(one);

async function unhealthyPods(one: Case, current: readonly ShownProblem[], now: Date): Promise<Unfinished> {
  const { unhealthyMs, observed, mayFail } = one;
  const isBroken = observed?.state === "broken";
  // `since` is by the cluster's clock; no problem of these values is older than the application's bad health.
  const lastedMs = ({ since }: { readonly since: Date }) => Math.min(unhealthyMs, elapsedMs(since, now));
  const problems = current.filter((problem) => lastedMs(problem) >= reportAfterMs(problem));
  const lasting = problems.filter((problem) => lastedMs(problem) >= TOLERANCE_MS[problem.reason]);
  const others = problems.filter((problem) => !lasting.includes(problem));
  if (lasting.length > 0 && mayFail) return reported(one, [...lasting, ...others], true);
  const failure = formerFailure(one);
  if (failure !== undefined) return failure;
  if (problems.length > 0) return reported(one, problems, false);
  const degradedMs = lastedMs({ since: observed?.since ?? new Date(0) });
  if (isBroken && mayFail && degradedMs >= DEGRADED_TOLERANCE_MS) {
    return failed("DeploymentFailed", messageOf(one), { requeueAfterMs: RECHECK_MS });
  }
  return waiting(isBroken ? "Degraded" : "Progressing", messageOf(one), { requeueAfterMs: recheckMs(one) });
}

/** True when the last reconcile found it serving with quiet problems. */
const wasQuiet = ({ environment, former }: Case) =>
  former?.status === "True" && findCondition(environment.status?.conditions, "ResourcesHealthy") !== undefined;

/** True when objects without traffic explain the deployer's state, which names no object. */
function isExplained({ quiet, isServing }: Diagnosis, { state }: ObservedApplication): boolean {
  return isServing && quiet.some(({ isDegraded }) => isDegraded || state !== "broken");
}

/** Problems of the pods; a backing service has its own remedies. */
function problemsOf(
  { environment, only }: Case,
  { problems }: Diagnosis,
  backingServices: readonly BackingService[],
): readonly ShownProblem[] {
  return problems
    .filter(({ component, object }) => only === undefined || (component === only.component && isCurrent(object, only)))
    .map((problem): ShownProblem => {
      const service = backingServices.find(({ name }) => name === problem.component);
      const remedy = service?.remedies(environment)[problem.reason] ?? remedyOf(problem, environment);
      const isComponent = COMPONENTS.some((component) => component === problem.component);
      const isKnown = service !== undefined || (isComponent && !problem.isUnlabelled);
      return {
        ...problem,
        shown: service?.reasons?.(environment)[problem.reason] ?? problem.reason,
        remedy,
        title: isKnown ? problem.component : titleOf(problem.object),
      };
    });
}

const isCurrent = ({ kind, name }: NamedObject, { job }: NonNullable<UnhealthyPods["only"]>) =>
  kind !== "Job" || job === undefined || name === job;

interface ShownProblem extends PodProblem {
  /** Name of its owner, for people. */
  readonly title: string;
  /** Reason of a condition. */
  readonly shown: string;
}

const logSourceOf = ({ object, evidence }: PodProblem): LogSource => ({ title: titleOf(object), evidence });

const reportAfterMs = ({ reason }: PodProblem) => Math.min(REPORT_AFTER_MS, TOLERANCE_MS[reason]);

async function reported(one: Case, problems: readonly ShownProblem[], isFinal: boolean): Promise<Unfinished> {
  const reason = (problems[0] as ShownProblem).shown;
  const summary = problems.map(({ title, what, remedy }) => `${title}: ${what}: ${remedy}`).join("; ");
  const message = await reportMessage(one, { reason, summary, sources: problems, isFinal });
  return failedOrWaiting(isFinal, reason, { message, requeueAfterMs: recheckMs(one) });
}

interface Report {
  readonly reason: string;
  readonly summary: string;
  readonly sources: readonly LogSource[];
  readonly isFinal: boolean;
}

/** The message. Its evidence varies, so the first one stays, or every reconcile would write the status. */
async function reportMessage({ former }: Case, { reason, summary, sources, isFinal }: Report): Promise<string> {
  const isReported =
    former?.reason === reason &&
    former.status === (isFinal ? "False" : "Unknown") &&
    former.message.startsWith(summary) &&
    former.message !== summary;
  return isReported ? former.message : withEvidence(summary, sources);
}

function failedOrWaiting(
  isFinal: boolean,
  reason: string,
  { message, requeueAfterMs }: { readonly message: string; readonly requeueAfterMs: number },
): Unfinished {
  return isFinal ? failed(reason, message, { requeueAfterMs }) : waiting(reason, message, { requeueAfterMs });
}

/** Short while a rollout may still succeed, then growing: each diagnosis costs two reads. */
function recheckMs({ unhealthyMs, former, mayFail }: Case): number {
  const isOpen = mayFail && former?.status !== "False" && unhealthyMs < 900_000;
  return Math.min(isOpen ? 10_000 : 300_000, Math.max(5_000, unhealthyMs));
}

/** The summary, then as many last lines of each source as fit. */
async function withEvidence(summary: string, sources: readonly LogSource[]): Promise<string> {
  const evidences = await Promise.all(sources.map((source) => source.evidence()));
  const room = Math.floor((CONDITION_MESSAGE_MAX_LENGTH - summary.length) / sources.length);
  const shown = sources.map(({ title }, index) => {
    const heading = `\nLast output of ${title}:\n`;
    const lines = lastThatFit(evidences[index] ?? "", room - heading.length);
    return lines === "" ? "" : heading + lines;
  });
  return clipped(summary + shown.join(""));
}

function lastThatFit(text: string, length: number): string {
  const lines = text.split("\n");
  while (lines.length > 1 && lines.join("\n").length > length) lines.shift();
  return length <= 0 ? "" : clipped(lines.join("\n"), length);
}

/**
 * Remedy for a pod's problem; for a pull request's missing image with the commit that its pipeline may have built
 * instead of the head: GitHub's pull request pipelines check out the merge into the base.
 */
export function remedyOf(problem: PodProblem, environment: EphemeralEnvironment): string {
  const { reason, component, remedy } = problem;
  const own = COMPONENTS.find((one) => one === component);
  const applied = own && environment.status?.sources?.[own]?.applied;
  if (reason !== "ImagePullFailed" || own === undefined || applied === undefined) return remedy;
  // Unlabelled pods may belong to other programs.
  if (problem.isUnlabelled && !problem.what.includes(`'${applied.image}'`)) return remedy;
  const { mergeCommit } = componentBuild(environment, own, applied);
  // Least digits of a commit in a tag.
  if (mergeCommit === undefined || applied.image.includes(mergeCommit.slice(0, 7))) return remedy;
  return (
    `there is no image for head commit ${shortCommit(applied.commit)}; if the pipeline builds the merge commit ${shortCommit(mergeCommit)}, ` +
    `use {mergeCommit} in image.tagTemplate of the Repository; else ${remedy}`
  );
}

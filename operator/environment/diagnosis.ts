import { type Condition, clipped, findCondition, type StepCondition } from "../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { namespaceName } from "../../crds/names.ts";
import { CONDITION_MESSAGE_MAX_LENGTH } from "../../crds/schema.ts";
import { elapsedMs } from "../kit/time/clock.ts";
import type { DeploymentProblem, ObservedApplication, WantedApplication } from "../ports/deployer.ts";
import type { PodProblem, PodProblemReason } from "../ports/pods.ts";
import { remedyOf } from "./missing-image.ts";
import type { StepContext } from "./step.ts";
import { failed, type Unfinished, waiting } from "./step-result.ts";

/** The deployer's watch enqueues the environment; this is the fallback. */
const RECHECK_MS = 30_000;
/** Most applications are healthy by then; only the others have their pods read. */
const DIAGNOSE_AFTER_MS = 10_000;
/** A working deployer compares within seconds. */
const SILENT_MS = 120_000;
/** A problem is reported after this time, although it may still pass. */
const REPORT_AFTER_MS = 30_000;
/** Without metrics, an autoscaler makes its whole application degraded until its pods have run for a while. */
const DEGRADED_TOLERANCE_MS = 120_000;
/**
 * How long each problem may last before it fails the rollout. Within this time pulls and refused pods are retried, a node
 * may be added, and an application may start, for which the chart allows five minutes.
 */
const TOLERANCE_MS: Readonly<Record<PodProblemReason, number>> = {
  ImagePullFailed: 30_000,
  ContainerMisconfigured: 30_000,
  CrashLoop: 0,
  QuotaExceeded: 30_000,
  PodRefused: 30_000,
  VolumeMissing: 120_000,
  Unschedulable: 300_000,
  ProbeFailing: 300_000,
};

/** The pods of an application that is not healthy. */
export interface UnhealthyPods {
  readonly environment: EphemeralEnvironment;
  /** The hash of the desired values. */
  readonly hash: string;
  /** `undefined` before the deployer's watch has seen the application. */
  readonly observed: ObservedApplication | undefined;
  /** Whether a problem may fail the environment; one that serves fails only by its URLs. */
  readonly mayFail: boolean;
  /** The one component to diagnose, for its own condition; all of them, for `ApplicationSynced`, when absent. */
  readonly only?: { readonly component: string; readonly condition: StepCondition };
}

/** An application that is not healthy. */
export interface UnhealthyApplication extends UnhealthyPods {
  readonly wanted: WantedApplication;
}

interface Case extends UnhealthyPods {
  /** The condition of the last reconcile, if it was about the same values. */
  readonly former: Condition | undefined;
  /** For how long the application has been unhealthy. */
  readonly unhealthyMs: number;
}

/**
 * Why the application is not healthy: a message with a remedy, a stable reason, and a failure once the problem has lasted
 * too long to pass by itself. A failure stays until the application is healthy or another problem is found, so a retry, or
 * a pod between two starts, does not look like a recovery.
 */
export async function diagnoseApplication(
  application: UnhealthyApplication,
  context: StepContext,
): Promise<Unfinished> {
  const one = caseOf(application, context);
  const { state, problem } = application.observed ?? { state: "unseen" };
  if (state === "unseen") return unseen(one);
  if (state === "waiting") return syncing(one, RECHECK_MS);
  if (problem !== undefined && problem !== "DeploymentFailed") {
    return refused(one, application.wanted, problem, context);
  }
  return diagnosedPods(one, context);
}

/** Why the pods of a deployed application are not ready. */
export async function diagnosePods(unhealthy: UnhealthyPods, context: StepContext): Promise<Unfinished> {
  return diagnosedPods(caseOf(unhealthy, context), context);
}

function caseOf(unhealthy: UnhealthyPods, { clock }: StepContext): Case {
  const { status } = unhealthy.environment;
  const condition = unhealthy.only?.condition ?? "ApplicationSynced";
  const former = status?.desiredHash === unhealthy.hash ? findCondition(status.conditions, condition) : undefined;
  if (former === undefined || former.status === "True") return { ...unhealthy, former, unhealthyMs: 0 };
  const since = Math.max(Date.parse(former.lastTransitionTime), Date.parse(status?.rollout?.since ?? "") || 0);
  return { ...unhealthy, former, unhealthyMs: elapsedMs(new Date(since), clock.now()) };
}

const messageOf = ({ observed }: Case) => observed?.message ?? "waiting for the deployer to pick the application up";

/** The failure of the last reconcile, if there was one. */
function formerFailure({ former, mayFail }: Case): Unfinished | undefined {
  if (former?.status !== "False" || !mayFail) return undefined;
  return failed(former.reason, former.message, { requeueAfterMs: RECHECK_MS });
}

/** Problems after which the deployer retries; the age of such a problem includes the retries. */
const RETRIED: readonly string[] = [
  "ChartInvalid",
  "SyncFailed",
  "QuotaExceeded",
  "QuotaUncounted",
  "DeployerUnavailable",
];
/** Problems that the environment did not cause: a part of the deployer is missing, or the cluster is behind. */
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

/** The deployer has given up on these values, so it is asked to retry. */
async function refused(
  one: Case,
  wanted: WantedApplication,
  problem: DeploymentProblem,
  { clock, deployer }: StepContext,
): Promise<Unfinished> {
  const { former } = one;
  const isSame = former !== undefined && former.status !== "True" && former.reason === problem;
  const retryInMs = await deployer.retry(wanted, isSame ? new Date(former.lastTransitionTime) : clock.now());
  const requeueAfterMs = Math.min(RECHECK_MS, Math.max(1_000, retryInMs));
  const isFinal = one.mayFail && !TRANSIENT.includes(problem);
  return failedOrWaiting(isFinal, problem, { message: messageOf(one), requeueAfterMs });
}

async function diagnosedPods(one: Case, context: StepContext): Promise<Unfinished> {
  const { unhealthyMs, observed, former, mayFail } = one;
  const isBroken = observed?.state === "broken";
  if (!isBroken && former?.status !== "False" && unhealthyMs < DIAGNOSE_AFTER_MS) {
    return waiting("Progressing", messageOf(one), { requeueAfterMs: DIAGNOSE_AFTER_MS - unhealthyMs });
  }
  const now = context.clock.now();
  // `since` is by the cluster's clock; no problem of these values is older than the application is unhealthy.
  const lastedMs = ({ since }: { readonly since: Date }) => Math.min(unhealthyMs, elapsedMs(since, now));
  const problems = (await problemsOf(one, context)).filter((problem) => lastedMs(problem) >= reportAfterMs(problem));
  const lasting = problems.filter((problem) => lastedMs(problem) >= TOLERANCE_MS[problem.reason]);
  if (lasting.length > 0 && mayFail) return reported(one, lasting, true);
  const failure = formerFailure(one);
  if (failure !== undefined) return failure;
  if (problems.length > 0) return reported(one, problems, false);
  const degradedMs = lastedMs({ since: observed?.since ?? new Date(0) });
  if (isBroken && mayFail && degradedMs >= DEGRADED_TOLERANCE_MS) {
    return failed("DeploymentFailed", messageOf(one), { requeueAfterMs: RECHECK_MS });
  }
  return waiting(isBroken ? "Degraded" : "Progressing", messageOf(one), { requeueAfterMs: recheckMs(one) });
}

/** The problems of the pods; a backing service has its own remedies. */
async function problemsOf(
  { environment, only }: Case,
  { pods, backingServices }: StepContext,
): Promise<readonly PodProblem[]> {
  const problems = await pods.diagnose(environment.metadata);
  return problems
    .filter(({ component }) => only === undefined || component === only.component)
    .map((problem) => {
      const service = backingServices.find(({ name }) => name === problem.component);
      return { ...problem, remedy: service?.remedies[problem.reason] ?? remedyOf(problem, environment) };
    });
}

const reportAfterMs = ({ reason }: PodProblem) => Math.min(REPORT_AFTER_MS, TOLERANCE_MS[reason]);

async function reported(one: Case, problems: readonly PodProblem[], isFinal: boolean): Promise<Unfinished> {
  const { former } = one;
  const reason = (problems[0] as PodProblem).reason;
  const summary = problems.map(({ component, what, remedy }) => `${component}: ${what}: ${remedy}`).join("; ");
  const isReported =
    former?.reason === reason &&
    former.status === (isFinal ? "False" : "Unknown") &&
    former.message.startsWith(summary) &&
    former.message !== summary;
  // The evidence differs each time: the first one stays, or every reconcile would write the status.
  const message = isReported ? former.message : await withEvidence(summary, problems);
  return failedOrWaiting(isFinal, reason, { message, requeueAfterMs: recheckMs(one) });
}

function failedOrWaiting(
  isFinal: boolean,
  reason: string,
  { message, requeueAfterMs }: { readonly message: string; readonly requeueAfterMs: number },
): Unfinished {
  return isFinal ? failed(reason, message, { requeueAfterMs }) : waiting(reason, message, { requeueAfterMs });
}

/** Often while a rollout may still succeed, less and less often afterwards: each diagnosis costs two reads. */
function recheckMs({ unhealthyMs, former, mayFail }: Case): number {
  const isOpen = mayFail && former?.status !== "False" && unhealthyMs < 900_000;
  return Math.min(isOpen ? 10_000 : 300_000, Math.max(5_000, unhealthyMs));
}

/** The summary, then as many of the last lines of every component as there is room for. */
async function withEvidence(summary: string, problems: readonly PodProblem[]): Promise<string> {
  const evidences = await Promise.all(problems.map((problem) => problem.evidence()));
  const room = Math.floor((CONDITION_MESSAGE_MAX_LENGTH - summary.length) / problems.length);
  const shown = problems.map(({ component }, index) => {
    const title = `\nLast output of ${component}:\n`;
    const lines = lastThatFit(evidences[index] ?? "", room - title.length);
    return lines === "" ? "" : title + lines;
  });
  return clipped(summary + shown.join(""));
}

function lastThatFit(text: string, length: number): string {
  const lines = text.split("\n");
  while (lines.length > 1 && lines.join("\n").length > length) lines.shift();
  const left = lines.join("\n");
  return length <= 0 ? "" : clipped(left, length);
}

import { type Condition, clipped, findCondition, type StepCondition } from "../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { namespaceName } from "../../crds/names.ts";
import { CONDITION_MESSAGE_MAX_LENGTH } from "../../crds/schema.ts";
import { elapsedMs } from "../kit/time/clock.ts";
import type { DeploymentProblem, ObservedApplication, WantedApplication } from "../ports/deployer.ts";
import type { PodProblem, PodProblemReason } from "../ports/pods.ts";
import { failed, type StepContext, type Unfinished, waiting } from "./step.ts";

/** The deployer's watch wakes the environment; this is only the net below it. */
const RECHECK_MS = 30_000;
/** Healthy applications are there by then: only others are worth a look at their pods. */
const DIAGNOSE_AFTER_MS = 10_000;
/** A deployer that works compares within seconds. */
const SILENT_MS = 120_000;
/** Whatever lasts so long is worth telling, also where it may pass. */
const TELL_AFTER_MS = 30_000;
/** An autoscaler that has no figures yet has its whole application called degraded, until its pods run for a while. */
const DEGRADED_PATIENCE_MS = 120_000;
/**
 * How long each trouble may last before it fails what is being made. Pulls and refused pods are tried again within this
 * time; a node may be added, and an application may take the five minutes to start that the chart allows it.
 */
const PATIENCE_MS: Readonly<Record<PodProblemReason, number>> = {
  ImagePullFailed: 30_000,
  ContainerMisconfigured: 30_000,
  CrashLoop: 0,
  QuotaExceeded: 30_000,
  PodRefused: 30_000,
  VolumeMissing: 120_000,
  Unschedulable: 300_000,
  ProbeFailing: 300_000,
};

/** An application that is not healthy, and what is known of it. */
export interface UnhealthyApplication {
  readonly environment: EphemeralEnvironment;
  readonly wanted: WantedApplication;
  /** Of what is wanted now. */
  readonly hash: string;
  /** Absent before the deployer's watch has seen it. */
  readonly observed: ObservedApplication | undefined;
  /** Whether it can fail the environment: what serves is judged by its URLs. */
  readonly mayFail: boolean;
  /** The only component that is asked about, in a condition of its own; all of them in `ApplicationSynced` when absent. */
  readonly part?: { readonly component: string; readonly condition: StepCondition };
}

/** What of an application the pods are asked about. */
type AilingPods = Omit<UnhealthyApplication, "wanted">;

interface Case extends AilingPods {
  /** What was said of this very application in the pass before. */
  readonly former: Condition | undefined;
  /** For how long it is not healthy. */
  readonly ailingMs: number;
}

/**
 * Why the application is not healthy: in words to act on, with a reason that stays the same, and as a failure once it
 * has lasted too long to pass by itself. A failure stands until it is healthy or something else is known to be wrong,
 * so that a new try, or a pod between two starts, makes nobody believe that it is over.
 */
export async function diagnoseApplication(ailing: UnhealthyApplication, context: StepContext): Promise<Unfinished> {
  const one = caseOf(ailing, context);
  const { state, problem } = ailing.observed ?? { state: "unseen" };
  if (state === "unseen") return unseen(one);
  if (state === "waiting") return atWork(one, RECHECK_MS);
  if (problem !== undefined && problem !== "DeploymentFailed") return refused(one, ailing.wanted, problem, context);
  return troubled(one, context);
}

/** The same of an application that was deployed, from its pods alone. */
export async function diagnosedPods(ailing: AilingPods, context: StepContext): Promise<Unfinished> {
  return troubled(caseOf(ailing, context), context);
}

function caseOf(ailing: AilingPods, { clock }: StepContext): Case {
  const { status } = ailing.environment;
  const condition = ailing.part?.condition ?? "ApplicationSynced";
  const former = status?.desiredHash === ailing.hash ? findCondition(status.conditions, condition) : undefined;
  if (former === undefined || former.status === "True") return { ...ailing, former, ailingMs: 0 };
  const since = Math.max(Date.parse(former.lastTransitionTime), Date.parse(status?.rollout?.since ?? "") || 0);
  return { ...ailing, former, ailingMs: elapsedMs(new Date(since), clock.now()) };
}

const messageOf = ({ observed }: Case) => observed?.message ?? "waiting for the deployer to pick the application up";

/** What was wrong before, as long as nothing says that it is over. */
function standing({ former, mayFail }: Case): Unfinished | undefined {
  if (former?.status !== "False" || !mayFail) return undefined;
  return verdict(true, former.reason, former.message, RECHECK_MS);
}

/** What the deployer is asked to try again; while it does, the age of the failure counts on. */
const TRIED_AGAIN: readonly string[] = [
  ...["ChartInvalid", "SyncFailed", "QuotaExceeded", "QuotaUncounted", "DeployerUnavailable"],
];
/** Nobody's mistake in this environment: the deployer lacks a part, or the cluster is not that far. */
const PASSING: readonly DeploymentProblem[] = ["DeployerUnavailable", "QuotaUncounted"];

function atWork(one: Case, requeueAfterMs: number): Unfinished {
  const { former } = one;
  const isAgain = former?.status === "Unknown" && TRIED_AGAIN.includes(former.reason);
  const { reason, message } = isAgain ? former : { reason: "Syncing", message: messageOf(one) };
  return standing(one) ?? waiting(reason, message, { requeueAfterMs });
}

function unseen(one: Case): Unfinished {
  const { environment, ailingMs, former } = one;
  if (ailingMs < SILENT_MS && former?.reason !== "DeployerSilent") {
    return atWork(one, Math.min(RECHECK_MS, SILENT_MS - ailingMs));
  }
  const message =
    `the deployer has not looked at application '${namespaceName(environment.metadata.name)}' for ${SILENT_MS / 60_000} minutes: ` +
    `see that its application-controller runs; ${messageOf(one)}`;
  return waiting("DeployerSilent", message, { requeueAfterMs: RECHECK_MS });
}

/** The deployer has given up for this state of things: it has to be asked to try again. */
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
  const isFinal = one.mayFail && !PASSING.includes(problem);
  return verdict(isFinal, problem, messageOf(one), requeueAfterMs);
}

async function troubled(one: Case, { clock, pods }: StepContext): Promise<Unfinished> {
  const { environment, ailingMs, observed, former, mayFail, part } = one;
  const isBroken = observed?.state === "broken";
  if (!isBroken && former?.status !== "False" && ailingMs < DIAGNOSE_AFTER_MS) {
    return waiting("Progressing", messageOf(one), { requeueAfterMs: DIAGNOSE_AFTER_MS - ailingMs });
  }
  const now = clock.now();
  // The cluster's clock says since when, and ours what that means: what is wanted can't be in trouble for longer than it ails.
  const lastedMs = ({ since }: { readonly since: Date }) => Math.min(ailingMs, elapsedMs(since, now));
  const isMeant = ({ component }: PodProblem) => part === undefined || component === part.component;
  const told = (await pods.diagnose(environment.metadata)).filter(
    (trouble) => isMeant(trouble) && lastedMs(trouble) >= tellAfterMs(trouble),
  );
  const lasting = told.filter((trouble) => lastedMs(trouble) >= PATIENCE_MS[trouble.reason]);
  if (lasting.length > 0 && mayFail) return explained(one, lasting, true);
  const kept = standing(one);
  if (kept !== undefined) return kept;
  if (told.length > 0) return explained(one, told, false);
  const degradedMs = lastedMs({ since: observed?.since ?? new Date(0) });
  if (isBroken && mayFail && degradedMs >= DEGRADED_PATIENCE_MS) {
    return verdict(true, "DeploymentFailed", messageOf(one), RECHECK_MS);
  }
  return waiting(isBroken ? "Degraded" : "Progressing", messageOf(one), { requeueAfterMs: nextLookMs(one) });
}

const tellAfterMs = ({ reason }: PodProblem) => Math.min(TELL_AFTER_MS, PATIENCE_MS[reason]);

async function explained(one: Case, troubles: readonly PodProblem[], isFinal: boolean): Promise<Unfinished> {
  const { former } = one;
  const reason = (troubles[0] as PodProblem).reason;
  const sentences = troubles.map(({ sentence }) => sentence).join("; ");
  const isTold =
    former?.reason === reason &&
    former.status === (isFinal ? "False" : "Unknown") &&
    former.message.startsWith(sentences) &&
    former.message !== sentences;
  // Evidence has other words each time: once it was shown it stays, or every pass would write.
  const message = isTold ? former.message : await withEvidence(sentences, troubles);
  return verdict(isFinal, reason, message, nextLookMs(one));
}

function verdict(isFinal: boolean, reason: string, message: string, requeueAfterMs: number): Unfinished {
  return isFinal ? { ...failed(reason, message), requeueAfterMs } : waiting(reason, message, { requeueAfterMs });
}

/** Often while something may still come of it, ever more calmly once it failed or serves: a look costs two reads. */
function nextLookMs({ ailingMs, former, mayFail }: Case): number {
  const isOpen = mayFail && former?.status !== "False" && ailingMs < 900_000;
  return Math.min(isOpen ? 10_000 : 300_000, Math.max(5_000, ailingMs));
}

/** The sentences first, then of every component as many of its last lines as there is room for. */
async function withEvidence(sentences: string, troubles: readonly PodProblem[]): Promise<string> {
  const evidences = await Promise.all(troubles.map((trouble) => trouble.evidence()));
  const room = Math.floor((CONDITION_MESSAGE_MAX_LENGTH - sentences.length) / troubles.length);
  const shown = troubles.map(({ component }, index) => {
    const title = `\nWhat was last said of ${component}:\n`;
    const lines = lastThatFit(evidences[index] ?? "", room - title.length);
    return lines === "" ? "" : title + lines;
  });
  return clipped(sentences + shown.join(""));
}

function lastThatFit(text: string, length: number): string {
  const lines = text.split("\n");
  while (lines.length > 1 && lines.join("\n").length > length) lines.shift();
  const left = lines.join("\n");
  return length <= 0 ? "" : clipped(left, length);
}

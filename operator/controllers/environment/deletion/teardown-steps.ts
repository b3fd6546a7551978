import { clipped } from "../../../../crds/conditions.ts";
import { MINUTE_MS } from "../../../../crds/durations.ts";
import type { RecordSpec } from "../../../../crds/environment/environment-record.ts";
import type { FinalizerRemoval, TeardownStep } from "../../../../crds/environment/environment-status.schema.ts";
import type { EnvironmentStatus, EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { FORCE_TEARDOWN_ANNOTATION } from "../../../../crds/group.ts";
import { namespaceName } from "../../../../crds/names.ts";
import { insteadOf, isUnavailable } from "../../../kit/client/errors.ts";
import { namespaceKind, roleBindingKind } from "../../../kit/client/kinds.ts";
import type { Clock } from "../../../kit/time/clock.ts";
import type { Owner, Removal } from "../../../ports/cluster.ts";
import { DeployerUnavailable } from "../../../ports/deployer.ts";
import type { Pods } from "../../../ports/pods.ts";
import type { Records } from "../../../ports/records.ts";
import { type SecretManager, SecretManagerUnavailable } from "../../../ports/secret-manager.ts";
import { PullRequestHostFailed } from "../../../ports/webhooks/pull-request-host.ts";
import { refIn } from "../desired/namespace.ts";
import { ACCESS_BINDING } from "../desired/secret.ts";
import { errorResult, retrying } from "../error-results.ts";
import {
  dropRights,
  emptyNamespace,
  isActive,
  keepRightsWhereHeld,
  keepsRights,
  type TakeOverDependencies,
  takeOverApplication,
} from "./take-over.ts";

/** The settings and ports of a teardown. */
export interface TeardownDependencies extends TakeOverDependencies {
  readonly clock: Clock;
  readonly secretManager: SecretManager;
  readonly records: Records;
  readonly pods: Pods;
}

/** The dependencies of one pass of a teardown. */
export interface TeardownContext extends TeardownDependencies {
  /** Aborts when the reconcile must stop. */
  readonly signal: AbortSignal;
}

/** The dependencies of one action. */
export interface ActionContext extends TeardownContext {
  /** Time for which the step has waited when the action begins, in milliseconds: whether it is stuck does not change meanwhile. */
  readonly waitedMs: number;
}

/** A terminating environment, or the remainder of one. */
export interface DeletionTarget {
  readonly metadata: Owner & Pick<EphemeralEnvironment["metadata"], "annotations">;
  readonly status?: Pick<EnvironmentStatus, "teardown"> | undefined;
  /** Variables with possible values in the secret manager. */
  readonly variables: readonly string[];
  /** Reports the end to its host; absent without a report. @throws PullRequestHostFailed, SecretManagerUnavailable */
  readonly reportDeleted?: (signal: AbortSignal) => Promise<void>;
  readonly record: (progress: Progress, goneAt: Date) => RecordSpec;
}

/** Completed part of a deletion. */
export interface Progress {
  readonly steps: readonly TeardownStep[];
  /** Finalizers that the platform removed in its namespace. */
  readonly removals?: readonly FinalizerRemoval[];
}

/** The step waits for an object. */
export interface WaitingStep extends Extract<Removal, { state: "removing" }> {
  /** True when its blockers are to be named at once. */
  readonly isOverdue?: boolean;
  /** True when a force has to do something in the action, which then answers `forced` by itself. */
  readonly forcesItself?: boolean;
  /** Names of all retained volumes that stay, where more were found: the status must store them before the namespace goes. */
  readonly volumes?: string;
  /** True while the platform itself removes what blocks it. */
  readonly isRemoving?: boolean;
  /** Delay of the next check, in case no watch reports. */
  readonly recheckMs?: number;
  readonly removals?: readonly FinalizerRemoval[];
}

/** Result of an action; `left`: what was given up or left behind, and why. */
export type ActionResult =
  | WaitingStep
  | { readonly state: "gone"; readonly left?: string }
  | { readonly state: "forced"; readonly left: string; readonly removals?: readonly FinalizerRemoval[] };

interface Action {
  readonly step: string;
  /** True when it runs for a step in this state. */
  readonly isFor: (step: TeardownStep) => boolean;
  readonly run: (target: DeletionTarget, context: ActionContext, past: Progress) => Promise<ActionResult>;
}

/** True when the step is gone or forced. */
export const isPast = ({ state }: TeardownStep) => state === "gone" || state === "forced";
const isOpen = (step: TeardownStep) => !isPast(step);

/** Teardown step that ends or names retained volumes. */
export const VOLUMES_STEP = "volumes";
/** Teardown step that reports the end to the host of a pull request. */
export const FEEDBACK_STEP = "feedback";

/**
 * The creation in reverse: the application first, or the deployer would restore its objects; the secrets before the
 * namespace, so that no value outlives the last trace of its owner.
 */
const REMOVALS: readonly Omit<Action, "isFor">[] = [
  { step: "application", run: removeApplication },
  { step: "project", run: removeProject },
  { step: "secrets", run: removeSecrets },
  { step: "namespace", run: removeNamespace },
];

/**
 * First the volumes, once, while their claims and the right to list them exist. Then every step; then gone ones once
 * more, because of delayed writes; then the report to the host; the record last, when it is complete.
 */
export const ACTIONS: readonly Action[] = [
  { step: VOLUMES_STEP, isFor: isOpen, run: endVolumes },
  ...REMOVALS.map((removal) => ({ ...removal, isFor: isOpen })),
  ...REMOVALS.map(({ step, run }) => ({
    step,
    run: step === "secrets" ? verifySecrets : run,
    isFor: ({ state }: TeardownStep) => state === "gone",
  })),
  { step: FEEDBACK_STEP, isFor: isOpen, run: reportToHost },
  { step: "record", isFor: isOpen, run: keepRecord },
];

/** Interval of checks while emptying: the namespace controller reports nothing before its own next check. */
const EMPTYING_RECHECK_MS = 2_000;
/** Longest interval when checking soon is useless. */
const QUIET_RECHECK_MS = 15_000;
/** An environment must not stay because its host is away. */
const REPORT_GIVEN_UP_AFTER_MS = 120_000;
/** Limit of one report, so that a hanging host blocks no worker for long. */
const REPORT_TIMEOUT_MS = 20_000;

/** The step's state in the status. */
export function formerStep({ status }: DeletionTarget, name: string): TeardownStep {
  return status?.teardown?.steps.find((step) => step.name === name) ?? { name, state: "pending" };
}

/** True when an admin wants the step to be skipped. */
export const isForceRequested = ({ metadata }: DeletionTarget, step: string) =>
  metadata.annotations?.[FORCE_TEARDOWN_ANNOTATION] === step;

/** True when a step takes so long that an admin may force it, whatever fails. */
export const isStuck = (context: ActionContext) => context.waitedMs >= stuckMs(context);

const stuckMs = ({ settings }: ActionContext) => settings.reconcile.stuckMinutes * MINUTE_MS;

/** The message, with the reasons of all blockers. */
export function withBlockers({ message, blockers = [] }: WaitingStep): string {
  const reasons = blockers.map((blocker) => `${blocker.reason}: ${blocker.message}`);
  return reasons.length === 0 ? message : `${message}, blocked by ${reasons.join("; ")}`;
}

async function endVolumes({ metadata }: DeletionTarget, context: TeardownContext): Promise<ActionResult> {
  const names = await endRetainedVolumes(metadata, context);
  return names.length === 0 ? { state: "gone" } : { state: "gone", left: names.join(", ") };
}

/**
 * Makes the retained volumes go with their claims, before these are deleted, and names those that stay: by the settings,
 * or because they existed before their claims. A namespace without the environment's RoleBinding may be another's.
 */
async function endRetainedVolumes(
  metadata: Owner,
  { cluster, namespaceContents, settings }: TeardownContext,
): Promise<readonly string[]> {
  const binding = await cluster.read(metadata, roleBindingKind, refIn({ metadata }, ACCESS_BINDING));
  if (binding === undefined) return [];
  const retained = await namespaceContents.retainedVolumes(metadata);
  const ending = settings.deletion.retainedVolumes === "Retain" ? [] : retained.filter((one) => one.isMadeForClaim);
  await Promise.all(ending.map((volume) => namespaceContents.endWithClaim(volume)));
  return retained.filter((volume) => !ending.includes(volume)).map(({ name }) => name);
}

/** The deployer has its time; then the application is removed despite its finalizers. */
async function removeApplication(target: DeletionTarget, context: ActionContext): Promise<ActionResult> {
  const { metadata } = target;
  const { deployer, settings, waitedMs } = context;
  const late = `not deleted by the deployer within ${Math.round(waitedMs / 1_000)} s`;
  const removal = await deployer.remove(metadata);
  // A process that died after the takeover has stored it nowhere else.
  if (removal.state === "gone") return keepsRights(metadata, context) ? { ...removal, left: late } : removal;
  const leftMs = settings.deletion.chartSeconds * 1_000 - waitedMs;
  const isForced = isForceRequested(target, "application") && isStuck(context);
  if (leftMs > 0 && !isForced) return { ...removal, recheckMs: leftMs };
  const jobs = await unendedJobs(metadata, context);
  const removed = await takeOverApplication(metadata, context);
  if (removed.state === "removing") return { ...removed, recheckMs: EMPTYING_RECHECK_MS };
  return { ...removed, left: `${late}${jobs}: ${withBlockers(removal)}` };
}

/** Unfinished Jobs: the deployer does not name the hooks that it awaits. */
async function unendedJobs(environment: Owner, { pods }: TeardownContext): Promise<string> {
  // The takeover goes on even if nothing can be read.
  const { problems } = await pods.diagnose(environment, ["Job"], {}).catch(() => ({ problems: [] }));
  const jobs = problems.filter(({ object, reason }) => object.kind === "Job" && reason !== "JobFailed");
  return jobs.length === 0 ? "" : `, while ${jobs.map(({ object }) => `Job/${object.name}`).join(", ")} had not ended`;
}

/** An application needs its project to be deleted: one that is left keeps it, and the sweep removes both. */
async function removeProject(
  { metadata }: DeletionTarget,
  { deployer }: TeardownContext,
  { steps }: Progress,
): Promise<ActionResult> {
  const isForced = steps.some(({ name, state }) => name === "application" && state === "forced");
  const isLeft = isForced && (await deployer.remove(metadata).catch(insteadOf(isAway, LEFT))).state !== "gone";
  if (isLeft) return { state: "forced", left: "kept for the application that is left" };
  return deployer.removeProject(metadata);
}

const LEFT = { state: "removing" } as const;
const isAway = (error: unknown) => error instanceof DeployerUnavailable;

/**
 * Leaves the platform no rights in the namespace at the end of a forced step, even if another call fails. A failure that
 * may pass ends a force only after twice the time of a stuck step: what it does not remove, nothing can remove later.
 */
async function removeNamespace(target: DeletionTarget, context: ActionContext, past: Progress): Promise<ActionResult> {
  const { metadata } = target;
  try {
    const waiting = isActive(metadata, context) ? await prepareDeletion(target, context, past) : undefined;
    return waiting ?? (await deleteNamespace(target, context));
  } catch (error) {
    if (!(isForceRequested(target, "namespace") && isStuck(context))) throw error;
    const mayPass = isUnavailable(error) && keepsRights(metadata, context) && context.waitedMs < 2 * stuckMs(context);
    if (mayPass) return { ...blockedBy(error, "namespace"), forcesItself: true, recheckMs: EMPTYING_RECHECK_MS };
    await dropRights(metadata, context);
    throw error;
  }
}

/** Does what is possible only before the namespace is being deleted; waits where the status must store it first. */
async function prepareDeletion(
  target: DeletionTarget,
  context: ActionContext,
  past: Progress,
): Promise<WaitingStep | undefined> {
  const volumes = await endLateVolumes(target, context, past);
  if (volumes !== undefined) {
    const message = "retained volumes that were made meanwhile are named first";
    return { state: "removing", message, volumes, recheckMs: EMPTYING_RECHECK_MS };
  }
  await keepRightsWhereHeld(target.metadata, context);
  return undefined;
}

/** Ends retained volumes that were made while the application was being deleted; names all, where more of them stay. */
async function endLateVolumes(
  { metadata }: DeletionTarget,
  context: ActionContext,
  { steps }: Progress,
): Promise<string | undefined> {
  const volumes = steps.find(({ name }) => name === VOLUMES_STEP);
  if (volumes?.state !== "gone") return undefined;
  const former = volumes.message?.split(", ") ?? [];
  // A status has only so many: the rest is not named.
  const all = clipped([...new Set([...former, ...(await endRetainedVolumes(metadata, context))])].join(", "));
  return all === (volumes.message ?? "") ? undefined : all;
}

/** A step that waits until a call that failed succeeds. */
export function blockedBy(error: unknown, step: string): WaitingStep {
  const { reason, message } = errorResult(error) ?? retrying(error);
  return { state: "removing", message, blockers: [{ kind: step, name: "", reason, message }] };
}

async function deleteNamespace(target: DeletionTarget, context: ActionContext): Promise<ActionResult> {
  const { metadata, status } = target;
  const { cluster, settings, waitedMs } = context;
  const removal = await cluster.remove(metadata, namespaceKind, { name: namespaceName(metadata.name) });
  if (removal.state === "gone" || !keepsRights(metadata, context)) return removal;
  const dueInMs = settings.deletion.finalizerSeconds * 1_000 - waitedMs;
  const limits = {
    isDue: dueInMs <= 0,
    isForced: isForceRequested(target, "namespace"),
    isStuck: isStuck(context),
    recorded: status?.teardown?.removals ?? [],
  };
  const { blockers, removals, isLast, isQuiet } = await emptyNamespace(metadata, limits, context);
  const named = blockers.length === 0 ? removal : { ...removal, blockers };
  if (isLast) return { state: "forced", left: withBlockers(named), removals };
  const recheckMs = isQuiet ? quietRecheckMs(waitedMs, dueInMs) : EMPTYING_RECHECK_MS;
  return { ...named, removals, isOverdue: blockers.length > 0, isRemoving: !isQuiet, forcesItself: true, recheckMs };
}

/** A quarter of the time waited so far, within limits, or what is left until finalizers are due: every check lists all kinds. */
function quietRecheckMs(waitedMs: number, dueInMs: number): number {
  const quarterMs = Math.min(QUIET_RECHECK_MS, Math.max(EMPTYING_RECHECK_MS, waitedMs / 4));
  return dueInMs > 0 ? Math.min(quarterMs, dueInMs) : quarterMs;
}

/** The secret manager's answer is trusted until the second round. */
async function removeSecrets(
  { metadata, variables }: DeletionTarget,
  { secretManager }: TeardownContext,
): Promise<Removal> {
  await secretManager.remove(metadata, variables);
  return { state: "gone" };
}

async function verifySecrets(
  { metadata, variables }: DeletionTarget,
  { secretManager }: TeardownContext,
): Promise<Removal> {
  const left = await secretManager.holdsAny(metadata, variables);
  return left ? { state: "removing", message: "the secret manager still holds entries" } : { state: "gone" };
}

/** One report; an error of the host is given up in time, with the reason in `left`. @throws other errors, until then */
async function reportToHost(target: DeletionTarget, context: ActionContext): Promise<ActionResult> {
  const { signal, waitedMs } = context;
  const deadline = AbortSignal.timeout(REPORT_TIMEOUT_MS);
  try {
    await target.reportDeleted?.(AbortSignal.any([signal, deadline]));
    return { state: "gone" };
  } catch (error) {
    signal.throwIfAborted();
    const isLate = deadline.aborted;
    const message = isLate ? `the host got no report within ${REPORT_TIMEOUT_MS / 1000} s` : hostMessage(error);
    if (waitedMs >= REPORT_GIVEN_UP_AFTER_MS)
      return { state: "gone", left: message ?? "the host could not get the report" };
    if (message === undefined) throw error;
    return { state: "removing", message };
  }
}

/** Messages of other errors may hold secrets. */
function hostMessage(error: unknown): string | undefined {
  const isKnown = error instanceof PullRequestHostFailed || error instanceof SecretManagerUnavailable;
  return isKnown ? error.message : undefined;
}

async function keepRecord(
  target: DeletionTarget,
  { records, clock }: TeardownContext,
  past: Progress,
): Promise<Removal> {
  await records.keep(target.record(past, clock.now()));
  return { state: "gone" };
}

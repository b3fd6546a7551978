import type { Settings } from "../../../../config/settings.ts";
import { clipped } from "../../../../crds/conditions.ts";
import { MINUTE_MS } from "../../../../crds/durations.ts";
import type { RecordSpec } from "../../../../crds/environment/environment-record.ts";
import type {
  FinalizerRemoval,
  TeardownBlocker,
  TeardownStep,
} from "../../../../crds/environment/environment-status.schema.ts";
import type { EnvironmentStatus, EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { FORCE_TEARDOWN_ANNOTATION } from "../../../../crds/group.ts";
import { namespaceName } from "../../../../crds/names.ts";
import { insteadOf } from "../../../kit/client/errors.ts";
import { namespaceKind } from "../../../kit/client/kinds.ts";
import type { Log } from "../../../kit/log.ts";
import { elapsedMs } from "../../../kit/time/clock.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Cluster, Owner, Removal } from "../../../ports/cluster.ts";
import { type Deployer, DeployerUnavailable } from "../../../ports/deployer.ts";
import type { NamespaceContents } from "../../../ports/namespace-contents.ts";
import type { Pods } from "../../../ports/pods.ts";
import type { Records } from "../../../ports/records.ts";
import type { SecretManager } from "../../../ports/secret-manager.ts";
import { errorResult, retrying } from "../error-results.ts";
import { FEEDBACK_STEP, lastFeedback, type ReportDeleted } from "./last-feedback.ts";
import { emptyNamespace, keepRightsWhereHeld, keepsRights, takeOverApplication } from "./take-over.ts";
import { endVolumes, VOLUMES_STEP } from "./volumes.ts";

/** The settings and ports of a teardown. */
export interface TeardownDependencies {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  readonly cluster: Cluster;
  readonly namespaceContents: NamespaceContents;
  readonly deployer: Deployer;
  readonly secretManager: SecretManager;
  readonly records: Records;
  readonly pods: Pick<Pods, "diagnose">;
}

/** The dependencies of one pass of a teardown. */
interface TeardownContext extends TeardownDependencies {
  /** Aborts when the reconcile must stop. */
  readonly signal: AbortSignal;
}

/** A terminating environment, or the remainder of one. */
export interface DeletionTarget {
  readonly metadata: Owner & Pick<EphemeralEnvironment["metadata"], "annotations">;
  readonly status?: Pick<EnvironmentStatus, "teardown"> | undefined;
  /** Variables with possible values in the secret manager. */
  readonly variables: readonly string[];
  /** Reports the end to its host; absent without a report. */
  readonly reportDeleted?: ReportDeleted;
  readonly record: (progress: Progress, goneAt: Date) => RecordSpec;
}

/** Completed part of a deletion. */
export interface Progress {
  readonly steps: readonly TeardownStep[];
  /** Finalizers that the platform removed in its namespace. */
  readonly removals?: readonly FinalizerRemoval[];
}

type Removing = Extract<Removal, { state: "removing" }>;

interface Waiting extends Removing {
  /** True when its blockers are to be named at once. */
  readonly isOverdue?: boolean;
  /** Delay of the next check, in case no watch reports. */
  readonly recheckMs?: number;
  readonly removals?: readonly FinalizerRemoval[];
}

/** `left`: what was given up or left behind, and why. */
type Passed =
  | Waiting
  | { readonly state: "gone"; readonly left?: string }
  | { readonly state: "forced"; readonly left: string };

interface Action {
  readonly step: string;
  /** True when it runs for a step in this state. */
  readonly isFor: (step: TeardownStep) => boolean;
  readonly run: (target: DeletionTarget, context: TeardownContext, past: Progress) => Promise<Passed>;
}

const isPast = ({ state }: TeardownStep) => state === "gone" || state === "forced";

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
const ACTIONS: readonly Action[] = [
  { step: VOLUMES_STEP, isFor: (step) => !isPast(step), run: removeVolumes },
  ...REMOVALS.map((removal) => ({ ...removal, isFor: (step: TeardownStep) => !isPast(step) })),
  ...REMOVALS.map(({ step, run }) => ({
    step,
    run: step === "secrets" ? verifySecrets : run,
    isFor: ({ state }: TeardownStep) => state === "gone",
  })),
  {
    step: FEEDBACK_STEP,
    isFor: (step) => !isPast(step),
    run: (target, { clock, signal }) =>
      lastFeedback(target.reportDeleted, { since: formerStep(target, FEEDBACK_STEP).since, now: clock.now(), signal }),
  },
  { step: "record", isFor: (step) => !isPast(step), run: keepRecord },
];

/** Steps of a teardown, in order; any may be forced. */
export const TEARDOWN_STEPS: readonly string[] = [...new Set(ACTIONS.map(({ step }) => step))];

/** Interval of checks while emptying: the namespace controller reports nothing before its own next check. */
const EMPTYING_RECHECK_MS = 2_000;
/** Longer interval when all remaining finalizers are awaited or refused: every check lists all kinds. */
const QUIET_RECHECK_MS = 15_000;

async function removeVolumes({ metadata }: DeletionTarget, context: TeardownContext): Promise<Passed> {
  const kept = await endVolumes(metadata, context);
  return kept.length === 0 ? { state: "gone" } : { state: "gone", left: kept.join(", ") };
}

/** The deployer has its time; then the application is removed despite its finalizers. */
async function removeApplication(target: DeletionTarget, context: TeardownContext): Promise<Passed> {
  const { metadata } = target;
  const { deployer, settings } = context;
  const waited = waitedMs(target, "application", context);
  const late = `not deleted by the deployer within ${Math.round(waited / 1_000)} s`;
  const removal = await deployer.remove(metadata);
  // A process that died after the takeover has stored it nowhere else.
  if (removal.state === "gone") return keepsRights(metadata, context) ? { ...removal, left: late } : removal;
  const leftMs = settings.deletion.chartSeconds * 1_000 - waited;
  const isForced = isForceWanted(target, "application") && waited >= stuckMs(context);
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
): Promise<Passed> {
  const isForced = steps.some(({ name, state }) => name === "application" && state === "forced");
  const isLeft = isForced && (await deployer.remove(metadata).catch(insteadOf(isAway, LEFT))).state !== "gone";
  if (isLeft) return { state: "forced", left: "kept for the application that is left" };
  return deployer.removeProject(metadata);
}

const LEFT = { state: "removing" } as const;
const isAway = (error: unknown) => error instanceof DeployerUnavailable;

async function removeNamespace(target: DeletionTarget, context: TeardownContext): Promise<Passed> {
  const { metadata, status } = target;
  if (formerStep(target, "namespace").state === "pending") await keepRightsWhereHeld(metadata, context);
  const removal = await context.cluster.remove(metadata, namespaceKind, { name: namespaceName(metadata.name) });
  if (removal.state === "gone" || !keepsRights(metadata, context)) return removal;
  const isDue = waitedMs(target, "namespace", context) >= context.settings.deletion.finalizerSeconds * 1_000;
  const isForced = isDue && isForceWanted(target, "namespace");
  const recorded = status?.teardown?.removals ?? [];
  const { blockers, removals, isQuiet } = await emptyNamespace(metadata, { isDue, isForced, recorded }, context);
  const named = blockers.length === 0 ? removal : { ...removal, blockers };
  const recheckMs = isQuiet ? QUIET_RECHECK_MS : EMPTYING_RECHECK_MS;
  return { ...named, removals, isOverdue: blockers.length > 0, recheckMs };
}

const isForceWanted = ({ metadata }: Pick<DeletionTarget, "metadata">, step: string) =>
  metadata.annotations?.[FORCE_TEARDOWN_ANNOTATION] === step;

const stuckMs = ({ settings }: Pick<TeardownContext, "settings">) => settings.reconcile.stuckMinutes * MINUTE_MS;

function waitedMs(target: DeletionTarget, name: string, { clock }: TeardownContext): number {
  const { since } = formerStep(target, name);
  return since === undefined ? 0 : elapsedMs(new Date(since), clock.now());
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

async function keepRecord(
  target: DeletionTarget,
  { records, clock }: TeardownContext,
  past: Progress,
): Promise<Removal> {
  await records.keep(target.record(past, clock.now()));
  return { state: "gone" };
}

export interface Teardown {
  readonly steps: readonly TeardownStep[];
  /** Blockers of a late step. */
  readonly blockers: readonly TeardownBlocker[];
  /** Finalizers that the platform removes in the namespace; stored before the next reconcile removes them. */
  readonly removals: readonly FinalizerRemoval[];
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
    const { removal, error } = await attempt(name, () => run(target, context, past));
    const { step, blockers } = stepAfter(former, removal, target, context);
    steps.set(name, step);
    if ("removals" in removal) removals = removal.removals ?? [];
    if (!isPast(step)) {
      const { recheckMs } = removal as Waiting;
      return { steps: [...steps.values()], blockers, removals, recheckMs, error };
    }
  }
  return { steps: [...steps.values()], blockers: [], removals };
}

function formerStep({ status }: DeletionTarget, name: string): TeardownStep {
  return status?.teardown?.steps.find((step) => step.name === name) ?? { name, state: "pending" };
}

/**
 * State of a step after an action. A step is stuck when it alone took too long; only then are its blockers named, in
 * words that may vary, and may it be forced.
 */
function stepAfter(
  former: TeardownStep,
  removal: Passed,
  target: DeletionTarget,
  context: TeardownContext,
): { step: TeardownStep; blockers: TeardownBlocker[] } {
  const { name, since: begun } = former;
  const now = context.clock.now();
  const at = now.toISOString();
  if (removal.state === "forced") return forced(name, removal.left, at);
  if (removal.state === "gone") return { step: goneStep(former, removal.left, at), blockers: [] };
  const since = begun ?? at;
  const isStuck = removal.isOverdue === true || elapsedMs(new Date(since), now) >= stuckMs(context);
  if (!isStuck) return { step: { name, state: "waiting", message: clipped(removal.message), since }, blockers: [] };
  const message = clipped(withBlockers(removal));
  if (isForceWanted(target, name)) return forced(name, message, at);
  return { step: { name, state: "waiting", message, since }, blockers: blockersOf(name, removal) };
}

/** The second round finds it gone, and keeps what the first one left. */
function goneStep({ name, state, message, goneAt }: TeardownStep, left: string | undefined, at: string): TeardownStep {
  const kept = (state === "gone" ? message : undefined) ?? left;
  return { name, state: "gone", ...(kept === undefined ? {} : { message: clipped(kept) }), goneAt: goneAt ?? at };
}

function forced(name: string, message: string, goneAt: string): { step: TeardownStep; blockers: TeardownBlocker[] } {
  return { step: { name, state: "forced", message: clipped(message), goneAt }, blockers: [] };
}

function withBlockers({ message, blockers = [] }: Removing): string {
  const reasons = blockers.map((blocker) => `${blocker.reason}: ${blocker.message}`);
  return reasons.length === 0 ? message : `${message}, blocked by ${reasons.join("; ")}`;
}

/** Blockers within the status's limits: names of finalizers may be longer. */
function blockersOf(step: string, { blockers = [], message }: Removing): TeardownBlocker[] {
  const named = blockers.length > 0 ? blockers : [{ kind: step, name: "", reason: "Remaining", message }];
  return named.slice(0, 16).map((blocker) => ({
    kind: clipped(blocker.kind, 64),
    name: clipped(blocker.name, 253),
    reason: clipped(blocker.reason, 128),
    message: clipped(blocker.message),
  }));
}

/** An error is reported as a blocker before it is retried. */
async function attempt(step: string, run: () => Promise<Passed>): Promise<{ removal: Passed; error?: unknown }> {
  try {
    return { removal: await run() };
  } catch (error) {
    const { reason, message } = errorResult(error) ?? retrying(error);
    return { removal: { state: "removing", message, blockers: [{ kind: step, name: "", reason, message }] }, error };
  }
}

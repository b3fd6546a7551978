import { clipped } from "../../../crds/conditions.ts";
import type { RecordSpec } from "../../../crds/environment/environment-record.ts";
import type { TeardownBlocker, TeardownStep } from "../../../crds/environment/environment-status.schema.ts";
import type { EnvironmentStatus, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { FORCE_TEARDOWN_ANNOTATION } from "../../../crds/group.ts";
import { namespaceName } from "../../../crds/names.ts";
import type { ControllerPorts } from "../../controller-ports.ts";
import { namespaceKind } from "../../kit/client/kinds.ts";
import { elapsedMs } from "../../kit/time/clock.ts";
import type { Owner, Removal } from "../../ports/cluster.ts";
import { errorResult, retrying } from "../error-results.ts";
import { FEEDBACK_STEP, lastFeedback, type TellGone } from "./last-feedback.ts";

export interface TeardownContext
  extends Pick<ControllerPorts, "cluster" | "deployer" | "secretManager" | "records" | "settings" | "clock"> {
  /** Aborts when the reconcile must stop. */
  readonly signal: AbortSignal;
}

/** An environment that is being deleted, or what is left of one. */
export interface DeletionTarget {
  readonly metadata: Owner & Pick<EphemeralEnvironment["metadata"], "annotations">;
  readonly status?: Pick<EnvironmentStatus, "teardown"> | undefined;
  /** The variables for which the secret manager may hold values, as far as known. */
  readonly variables: readonly string[];
  /** Tells its host that it is gone; absent where there is nothing to tell. */
  readonly tellGone?: TellGone;
  /** Its record, once the given steps are past. */
  readonly record: (steps: readonly TeardownStep[], goneAt: Date) => RecordSpec;
}

/** `left`: why something was given up. */
type Passed = Removal | { readonly state: "gone"; readonly left: string };

interface Action {
  readonly step: string;
  /** Whether it runs for a step in this state. */
  readonly isFor: (step: TeardownStep) => boolean;
  readonly run: (target: DeletionTarget, context: TeardownContext, past: readonly TeardownStep[]) => Promise<Passed>;
}

const isPast = ({ state }: TeardownStep) => state === "gone" || state === "forced";

/**
 * The creation in reverse: the application first, or the deployer would restore what is deleted below it; the secrets
 * before the namespace, so that no value outlives the last trace of its owner.
 */
const REMOVALS: readonly Omit<Action, "isFor">[] = [
  { step: "application", run: ({ metadata }, { deployer }) => deployer.remove(metadata) },
  { step: "project", run: ({ metadata }, { deployer }) => deployer.removeProject(metadata) },
  { step: "secrets", run: removeSecrets },
  {
    step: "namespace",
    run: ({ metadata }, { cluster }) => cluster.remove(metadata, namespaceKind, { name: namespaceName(metadata.name) }),
  },
];

/**
 * Every step until it is past; then once more those that are gone, because a delayed write may have arrived since; then
 * the host is told; then the record, when nothing can be added to it.
 */
const ACTIONS: readonly Action[] = [
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
      lastFeedback(target.tellGone, { since: formerStep(target, FEEDBACK_STEP).since, now: clock.now(), signal }),
  },
  { step: "record", isFor: (step) => !isPast(step), run: keepRecord },
];

/** The steps of a teardown, in order; any of them may be forced. */
export const TEARDOWN_STEPS: readonly string[] = [...new Set(ACTIONS.map(({ step }) => step))];

/** The answer of the secret manager is trusted until the second round. */
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
  past: readonly TeardownStep[],
): Promise<Removal> {
  await records.keep(target.record(past, clock.now()));
  return { state: "gone" };
}

/** The progress of a teardown. */
export interface Teardown {
  readonly steps: readonly TeardownStep[];
  /** What blocks the current step, when it takes too long. */
  readonly blockers: readonly TeardownBlocker[];
  /** Transient: to be retried with backoff. */
  readonly error?: unknown;
}

/** Whether every step is gone, which was verified twice, or forced. */
export function isOver({ steps }: Teardown): boolean {
  return steps.every(isPast);
}

/**
 * Goes as far as possible: a step begins when the one before is verified gone by a fresh read, or was forced. Past steps
 * are read again only right before the record, so waiting for one object costs one read.
 */
export async function tearDown(target: DeletionTarget, context: TeardownContext): Promise<Teardown> {
  const steps = new Map(TEARDOWN_STEPS.map((name) => [name, formerStep(target, name)]));
  for (const { step: name, isFor, run } of ACTIONS) {
    const former = steps.get(name) ?? formerStep(target, name);
    if (!isFor(former)) continue;
    context.signal.throwIfAborted();
    const { removal, error } = await attempt(name, () => run(target, context, [...steps.values()].filter(isPast)));
    const { step, blockers } = stepAfter(former, removal, target, context);
    steps.set(name, step);
    if (!isPast(step)) return { steps: [...steps.values()], blockers, error };
  }
  return { steps: [...steps.values()], blockers: [] };
}

function formerStep({ status }: DeletionTarget, name: string): TeardownStep {
  return status?.teardown?.steps.find((step) => step.name === name) ?? { name, state: "pending" };
}

const MINUTE_MS = 60_000;

/**
 * The state of a step after an action. A step is stuck when it alone took too long; only then its blockers are named, in
 * words that may change each time, and only then it may be forced.
 */
function stepAfter(
  { name, since: begun, goneAt }: TeardownStep,
  removal: Passed,
  { metadata }: DeletionTarget,
  { clock, settings }: TeardownContext,
): { step: TeardownStep; blockers: TeardownBlocker[] } {
  const now = clock.now();
  const at = now.toISOString();
  if (removal.state === "gone") {
    const left = "left" in removal ? { message: clipped(removal.left) } : {};
    return { step: { name, state: "gone", ...left, goneAt: goneAt ?? at }, blockers: [] };
  }
  const since = begun ?? at;
  const isStuck = elapsedMs(new Date(since), now) >= settings.reconcile.stuckMinutes * MINUTE_MS;
  if (!isStuck) return { step: { name, state: "waiting", message: clipped(removal.message), since }, blockers: [] };
  const message = clipped(withBlockers(removal));
  const isForced = metadata.annotations?.[FORCE_TEARDOWN_ANNOTATION] === name;
  if (isForced) return { step: { name, state: "forced", message, goneAt: at }, blockers: [] };
  return { step: { name, state: "waiting", message, since }, blockers: blockersOf(name, removal) };
}

type Removing = Extract<Removal, { state: "removing" }>;

function withBlockers({ message, blockers = [] }: Removing): string {
  const reasons = blockers.map((blocker) => `${blocker.reason}: ${blocker.message}`);
  return reasons.length === 0 ? message : `${message}, blocked by ${reasons.join("; ")}`;
}

/** As the status holds them: names of finalizers may be longer than its fields. */
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

import type { Settings } from "../../../config/settings.ts";
import { clipped } from "../../../crds/conditions.ts";
import type { RecordSpec } from "../../../crds/environment/environment-record.ts";
import type { TeardownBlocker, TeardownStep } from "../../../crds/environment/environment-status.schema.ts";
import type { EnvironmentStatus, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { FORCE_TEARDOWN_ANNOTATION } from "../../../crds/group.ts";
import { namespaceName } from "../../../crds/names.ts";
import { namespaceKind } from "../../kit/client/kinds.ts";
import { type Clock, elapsedMs } from "../../kit/time/clock.ts";
import type { Cluster, Owner, Removal } from "../../ports/cluster.ts";
import type { Deployer } from "../../ports/deployer.ts";
import type { Records } from "../../ports/records.ts";
import type { SecretManager } from "../../ports/secret-manager.ts";
import { errorResult, retrying } from "../error-results.ts";

export interface TeardownContext {
  readonly cluster: Cluster;
  readonly deployer: Deployer;
  readonly secretManager: SecretManager;
  readonly records: Records;
  readonly settings: Settings;
  readonly clock: Clock;
  /** Aborts when the pass may do no more. */
  readonly signal: AbortSignal;
}

/** An environment on its way out, or what is left of one that is gone. */
export interface DeletionTarget {
  readonly metadata: Owner & Pick<EphemeralEnvironment["metadata"], "annotations">;
  readonly status?: Pick<EnvironmentStatus, "teardown"> | undefined;
  /** Of which the secret manager may hold values, as far as is known. */
  readonly variables: readonly string[];
  /** What is to be remembered of it, once the given steps are past. */
  readonly record: (steps: readonly TeardownStep[], goneAt: Date) => RecordSpec;
}

interface Look {
  readonly name: string;
  /** For a step in which state it is taken. */
  readonly isFor: (step: TeardownStep) => boolean;
  readonly take: (leaving: DeletionTarget, context: TeardownContext, past: readonly TeardownStep[]) => Promise<Removal>;
}

const isPast = ({ state }: TeardownStep) => state === "gone" || state === "forced";

/**
 * The way back, in reverse: the deployer first, or it would heal what is deleted below it; the secret manager before
 * the namespace, so that no value outlives the last trace of whose it was.
 */
const UNDOINGS: readonly Omit<Look, "isFor">[] = [
  { name: "application", take: ({ metadata }, { deployer }) => deployer.remove(metadata) },
  { name: "project", take: ({ metadata }, { deployer }) => deployer.removeProject(metadata) },
  { name: "secrets", take: removeSecrets },
  {
    name: "namespace",
    take: ({ metadata }, { cluster }) =>
      cluster.remove(metadata, namespaceKind, { name: namespaceName(metadata.name) }),
  },
];

/**
 * Every step until it is past; then once more those that are gone, because a write that was on its way may have arrived
 * since; then the record, when there is nothing to add.
 */
const LOOKS: readonly Look[] = [
  ...UNDOINGS.map((undoing) => ({ ...undoing, isFor: (step: TeardownStep) => !isPast(step) })),
  ...UNDOINGS.map(({ name, take }) => ({
    ...{ name, take: name === "secrets" ? lookForSecrets : take },
    isFor: ({ state }: TeardownStep) => state === "gone",
  })),
  { name: "record", isFor: (step) => !isPast(step), take: keepRecord },
];

/** The steps of a teardown, in their order: what may be named to force one. */
export const TEARDOWN_STEPS: readonly string[] = [...new Set(LOOKS.map(({ name }) => name))];

/** Its answer is enough until the second look. */
async function removeSecrets(
  { metadata, variables }: DeletionTarget,
  { secretManager }: TeardownContext,
): Promise<Removal> {
  await secretManager.remove(metadata, variables);
  return { state: "gone" };
}

async function lookForSecrets(
  { metadata, variables }: DeletionTarget,
  { secretManager }: TeardownContext,
): Promise<Removal> {
  const left = await secretManager.holdsAny(metadata, variables);
  return left ? { state: "removing", message: "the secret manager still holds entries" } : { state: "gone" };
}

async function keepRecord(
  leaving: DeletionTarget,
  { records, clock }: TeardownContext,
  past: readonly TeardownStep[],
): Promise<Removal> {
  await records.keep(leaving.record(past, clock.now()));
  return { state: "gone" };
}

/** How far a teardown came. */
export interface Teardown {
  readonly steps: readonly TeardownStep[];
  /** What holds the step that is waited for, when it takes too long. */
  readonly blockers: readonly TeardownBlocker[];
  /** Transient: asks for another pass. */
  readonly error?: unknown;
}

/** Whether nothing is left to wait for: every step is gone, which was looked at twice, or was forced. */
export function isOver({ steps }: Teardown): boolean {
  return steps.every(isPast);
}

/**
 * Goes as far as it can: a step begins when the one before is verified gone by a fresh read, or an admin went past it.
 * What is past is not asked again until right before the record: while one thing is waited for, only that is looked at.
 */
export async function tearDown(leaving: DeletionTarget, context: TeardownContext): Promise<Teardown> {
  const steps = new Map(TEARDOWN_STEPS.map((name) => [name, formerStep(leaving, name)]));
  for (const { name, isFor, take } of LOOKS) {
    const former = steps.get(name) ?? formerStep(leaving, name);
    if (!isFor(former)) continue;
    context.signal.throwIfAborted();
    const { removal, error } = await attempt(name, () => take(leaving, context, [...steps.values()].filter(isPast)));
    const { step, blockers } = judged(former, removal, leaving, context);
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
 * What a look makes of a step. It is stuck when it alone was waited for too long; only then is said what holds it, in
 * words that may change from look to look, and only then may it be forced.
 */
function judged(
  { name, since: begun, goneAt }: TeardownStep,
  removal: Removal,
  { metadata }: DeletionTarget,
  { clock, settings }: TeardownContext,
): { step: TeardownStep; blockers: TeardownBlocker[] } {
  const now = clock.now();
  const at = now.toISOString();
  if (removal.state === "gone") return { step: { name, state: "gone", goneAt: goneAt ?? at }, blockers: [] };
  const since = begun ?? at;
  const isStuck = elapsedMs(new Date(since), now) >= settings.reconcile.stuckMinutes * MINUTE_MS;
  if (!isStuck) return { step: { name, state: "waiting", message: clipped(removal.message), since }, blockers: [] };
  const message = clipped(held(removal));
  const isForced = metadata.annotations?.[FORCE_TEARDOWN_ANNOTATION] === name;
  if (isForced) return { step: { name, state: "forced", message, goneAt: at }, blockers: [] };
  return { step: { name, state: "waiting", message, since }, blockers: blockersOf(name, removal) };
}

type Holding = Extract<Removal, { state: "removing" }>;

function held({ message, blockers = [] }: Holding): string {
  const holders = blockers.map(({ reason, message: words }) => `${reason}: ${words}`);
  return holders.length === 0 ? message : `${message}, held by ${holders.join("; ")}`;
}

/** As the status holds them: names of finalizers may be longer than its fields. */
function blockersOf(step: string, { blockers = [], message }: Holding): TeardownBlocker[] {
  const named = blockers.length > 0 ? blockers : [{ kind: step, name: "", reason: "Remaining", message }];
  return named.slice(0, 16).map(({ kind, name, reason, message: words }) => ({
    ...{ kind: clipped(kind, 64), name: clipped(name, 253) },
    ...{ reason: clipped(reason, 128), message: clipped(words) },
  }));
}

/** A step that fails is shown as what the teardown waits for, before anybody tries again. */
async function attempt(step: string, take: () => Promise<Removal>): Promise<{ removal: Removal; error?: unknown }> {
  try {
    return { removal: await take() };
  } catch (error) {
    const { reason, message } = errorResult(error) ?? retrying(error);
    return { removal: { state: "removing", message, blockers: [{ kind: step, name: "", reason, message }] }, error };
  }
}

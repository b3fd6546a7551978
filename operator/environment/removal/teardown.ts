import type { Settings } from "../../../config/settings.ts";
import { clipped } from "../../../crds/conditions.ts";
import type { RecordSpec } from "../../../crds/environment-record.ts";
import type { TeardownBlocker, TeardownStep } from "../../../crds/ephemeral-environment.schema.ts";
import type { EnvironmentStatus, EphemeralEnvironment } from "../../../crds/ephemeral-environment.ts";
import { FORCE_TEARDOWN_ANNOTATION } from "../../../crds/group.ts";
import { namespaceName } from "../../../crds/names.ts";
import { namespaceKind } from "../../kinds.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Cluster, Owner, Removal } from "../../ports/cluster.ts";
import type { Deployer } from "../../ports/deployer.ts";
import type { Records } from "../../ports/records.ts";
import type { SecretManager } from "../../ports/secret-manager.ts";
import { refusalResult, retrying } from "../refusals.ts";

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
export interface Leaving {
  readonly metadata: Owner & Pick<EphemeralEnvironment["metadata"], "deletionTimestamp" | "annotations">;
  readonly status?: Pick<EnvironmentStatus, "teardown"> | undefined;
  /** What is to be remembered of it, once the given steps are past. */
  readonly record: (steps: readonly TeardownStep[], goneAt: Date) => RecordSpec;
}

interface Undoing {
  readonly name: string;
  readonly undo: (leaving: Leaving, context: TeardownContext, past: readonly TeardownStep[]) => Promise<Removal>;
}

/**
 * The way back, in reverse: the deployer first, or it would heal what is deleted below it; the secret manager before
 * the namespace, so that no value outlives the last trace of whose it was; the record when there is nothing to add.
 */
const UNDOINGS: readonly Undoing[] = [
  { name: "application", undo: ({ metadata }, { deployer }) => deployer.remove(metadata) },
  { name: "project", undo: ({ metadata }, { deployer }) => deployer.unconfine(metadata) },
  { name: "secrets", undo: removeSecrets },
  {
    name: "namespace",
    undo: ({ metadata }, { cluster }) =>
      cluster.remove(metadata, namespaceKind, { name: namespaceName(metadata.name) }),
  },
  { name: "record", undo: keepRecord },
];

/** The steps of a teardown, in their order: what may be named to force one. */
export const TEARDOWN_STEPS: readonly string[] = UNDOINGS.map(({ name }) => name);

async function removeSecrets({ metadata }: Leaving, { secretManager }: TeardownContext): Promise<Removal> {
  await secretManager.remove(metadata);
  const left = await secretManager.holdsAny(metadata);
  return left ? { state: "removing", message: "the secret manager still holds entries" } : { state: "gone" };
}

async function keepRecord(
  leaving: Leaving,
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

/** Whether nothing is left to wait for: every step is verified gone, or was forced. */
export function isOver({ steps }: Teardown): boolean {
  return steps.every(({ state }) => state === "gone" || state === "forced");
}

/**
 * Goes as far as it can: a step begins when the one before is verified gone by a fresh read, or an admin went past it.
 * What was gone before is verified again: a write that was on its way then may have arrived since.
 */
export async function tearDown(leaving: Leaving, context: TeardownContext): Promise<Teardown> {
  const past: TeardownStep[] = [];
  for (const { name, undo } of UNDOINGS) {
    context.signal.throwIfAborted();
    const former = leaving.status?.teardown?.steps.find((step) => step.name === name);
    if (former?.state === "forced") {
      past.push(former);
      continue;
    }
    const { removal, error } = await attempt(name, () => undo(leaving, context, past));
    const goneAt = former?.goneAt ?? context.clock.now().toISOString();
    if (removal.state === "gone") {
      past.push({ name, state: "gone", goneAt });
      continue;
    }
    const message = clipped(removal.message);
    const isStuck = waitedMs(leaving, past, context) >= stuckMs(context);
    if (!isStuck || leaving.metadata.annotations?.[FORCE_TEARDOWN_ANNOTATION] !== name) {
      return standing([...past, { name, state: "waiting", message }], { isStuck, removal, error });
    }
    past.push({ name, state: "forced", message, goneAt });
  }
  return { steps: past, blockers: [] };
}

const MINUTE_MS = 60_000;
const stuckMs = ({ settings }: TeardownContext) => settings.reconcile.stuckMinutes * MINUTE_MS;

/** Since the step before was done with, or since the deletion was asked for. */
function waitedMs({ metadata }: Leaving, past: readonly TeardownStep[], { clock }: TeardownContext): number {
  const since = past.at(-1)?.goneAt ?? metadata.deletionTimestamp;
  return since === undefined ? 0 : clock.now().getTime() - Date.parse(since);
}

type Holding = Extract<Removal, { state: "removing" }>;

function standing(
  begun: readonly TeardownStep[],
  { isStuck, removal, error }: { isStuck: boolean; removal: Holding; error: unknown },
): Teardown {
  const pending = TEARDOWN_STEPS.slice(begun.length).map((name) => ({ name, state: "pending" as const }));
  return {
    steps: [...begun, ...pending],
    blockers: isStuck ? blockersOf(begun.at(-1)?.name ?? "", removal) : [],
    error,
  };
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
async function attempt(step: string, undo: () => Promise<Removal>): Promise<{ removal: Removal; error?: unknown }> {
  try {
    return { removal: await undo() };
  } catch (error) {
    const { reason, message } = refusalResult(error) ?? retrying(error);
    return { removal: { state: "removing", message, blockers: [{ kind: step, name: "", reason, message }] }, error };
  }
}

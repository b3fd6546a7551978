import type { RecordSpec } from "../../crds/environment/environment-record.ts";
import type { EphemeralEnvironment, Phase } from "../../crds/environment/ephemeral-environment.ts";
import { deletableFrom } from "../../crds/environment/lifetime.ts";
import { shownPhase } from "../../crds/environment/phase.ts";
import { oncePer } from "../../crds/once-per.ts";
import type { Environments } from "../../operator/ports/facade/environments.ts";
import type { History } from "../../operator/ports/facade/history.ts";

/** The moments of an environment that lives, or lived; in milliseconds since 1970, `undefined` for what has not been. */
export interface Life {
  readonly createdMs: number;
  readonly readyMs: number | undefined;
  /** Whether it is failed, or was at its end. */
  readonly isFailed: boolean;
  /** From when on its expiry lets it be deleted. */
  readonly dueMs: number | undefined;
  /** When its deletion was requested. */
  readonly deletedMs: number | undefined;
  readonly goneMs: number | undefined;
  /** Whether an admin skipped a step of its deletion. */
  readonly isForced: boolean;
  /** As users see it; `undefined` once it is gone. */
  readonly phase: Phase | undefined;
  /** Whether no reconcile has answered its latest change yet. */
  readonly isUnanswered: boolean;
}

interface Used {
  readonly environments: Pick<Environments, "list">;
  readonly history: History;
}

/**
 * The lives of all environments that there are, and of those that are recorded: from resources alone, the same at every
 * replica. Collected once for each change, and each version of an object is read once.
 */
export function createLives({ environments, history }: Used): () => readonly Life[] {
  const ofEach = { environment: oncePer(ofEnvironment), record: oncePer(ofRecord) };
  const collected = () => {
    const recorded = history.records().filter(({ reason }) => reason !== "orphaned");
    const uids = new Set(recorded.map(({ uid }) => uid));
    // Its record is written before its resource goes.
    const living = environments.list().filter(({ metadata }) => !uids.has(metadata.uid));
    return [...living.map((one) => ofEach.environment(one)), ...recorded.map((one) => ofEach.record(one))];
  };
  let known: { readonly revision: number; readonly lives: readonly Life[] } | undefined;
  return () => {
    const { revision } = history;
    if (known?.revision !== revision) known = { revision, lives: collected() };
    return known.lives;
  };
}

function ofEnvironment(environment: EphemeralEnvironment): Life {
  const { metadata, status } = environment;
  const phase = shownPhase(environment);
  return {
    createdMs: Date.parse(metadata.creationTimestamp),
    readyMs: msOf(status?.readyAt),
    isFailed: phase === "failed",
    dueMs: deletableFrom(environment)?.getTime(),
    deletedMs: msOf(metadata.deletionTimestamp),
    goneMs: undefined,
    isForced: false,
    phase,
    isUnanswered: status?.observedGeneration !== metadata.generation,
  };
}

function ofRecord({ createdAt, readyAt, failure, dueAt, deletedAt, goneAt, forced = [] }: RecordSpec): Life {
  return {
    createdMs: Date.parse(createdAt),
    readyMs: msOf(readyAt),
    isFailed: failure !== undefined,
    dueMs: msOf(dueAt),
    deletedMs: Date.parse(deletedAt),
    goneMs: Date.parse(goneAt),
    isForced: forced.length > 0,
    phase: undefined,
    isUnanswered: false,
  };
}

const msOf = (instant: string | undefined) => (instant === undefined ? undefined : Date.parse(instant));

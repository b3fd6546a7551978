import { findCondition, transition } from "../../crds/conditions.ts";
import { reconcileToken, repositoriesOf } from "../../crds/environment/ephemeral-environment.ts";
import { askedCheck, isKept, type Repository, type RepositoryStatus } from "../../crds/repository/repository.ts";
import type { Reconcile } from "../kit/controller/controller.ts";
import { type Clock, elapsedMs } from "../kit/time/clock.ts";
import type { ConfigSets } from "../ports/config-sets.ts";
import type { OperatorEnvironments } from "../ports/environments.ts";
import type { Repositories } from "../ports/repositories.ts";
import type { RepositoryHost } from "../ports/repository-host.ts";
import type { StatusWriter } from "../ports/status-writer.ts";
import { check, ruleProblem } from "./check.ts";
import { type CredentialSource, namesUnbound } from "./host-credentials.ts";

export interface RepositoryContext extends CredentialSource {
  readonly repositories: Repositories;
  readonly configSets: ConfigSets;
  readonly repositoryHost: RepositoryHost;
  readonly repositoryStatusWriter: StatusWriter<Repository, RepositoryStatus>;
  readonly environments: Pick<OperatorEnvironments, "countNow">;
  /** Whether an environment uses the Repository of this name, as far as this process has heard. */
  readonly isUsed: (name: string) => boolean;
  readonly clock: Clock;
}

/** How often a Repository is checked that nobody asks for: its host may be away without anybody needing it. */
const CHECK_EVERY_MS = 3_600_000;
/** And while something is wrong with it. */
const LOOK_AGAIN_MS = 300_000;

/**
 * One pass over one Repository, by its name: checks it when that is due or asked for, and keeps it while environments
 * use it. A Repository that is deleted goes with its last environment.
 */
export function createRepositoryReconciler(context: RepositoryContext): Reconcile {
  return async (name) => {
    const repository = context.repositories.find(name);
    if (repository === undefined) return;
    if (repository.metadata.deletionTimestamp !== undefined) return leave(repository, context);
    return { requeueAfterMs: await look(repository, context) };
  };
}

/** What is released can't be taken back: who uses it is asked of the API server then, which has heard of everybody. */
async function leave(
  repository: Repository,
  { repositoryStatusWriter, environments, isUsed }: RepositoryContext,
): Promise<void> {
  const { name } = repository.metadata;
  if (!isKept(repository) || isUsed(name)) return;
  const users = await environments.countNow((environment) => repositoriesOf(environment).includes(name));
  if (users === 0) await repositoryStatusWriter.removeFinalizer(repository);
}

/** Answers when to look again, in milliseconds. */
async function look(found: Repository, context: RepositoryContext): Promise<number> {
  const { repositoryStatusWriter, isUsed, clock } = context;
  const mustStay = isUsed(found.metadata.name) && !isKept(found);
  const repository = mustStay ? await repositoryStatusWriter.addFinalizer(found) : found;
  const dueInMs = isOverturned(repository, context) ? 0 : dueIn(repository, clock.now());
  if (dueInMs > 0) return dueInMs;
  return dueIn(await repositoryStatusWriter.writeStatus(repository, await statusOf(repository, context)), clock.now());
}

/** Whether it holds together by now, or no longer: what it names, and what the settings bind, may have changed since. */
function isOverturned(repository: Repository, context: RepositoryContext): boolean {
  const reason = findCondition(repository.status?.conditions, "Ready")?.reason;
  const isBroken = ruleProblem(repository, context) !== undefined;
  const isUnbound = namesUnbound(repository, context.settings);
  if (reason === "Checked") return isBroken || isUnbound;
  return (reason === "RulesInvalid" && !isBroken) || (reason === "CredentialNotBound" && !isUnbound);
}

/** Milliseconds until the next check. */
function dueIn(repository: Repository, now: Date): number {
  const { metadata, status } = repository;
  const isNews = status?.observedGeneration !== metadata.generation || askedCheck(repository) !== undefined;
  if (isNews || status.lastCheckedAt === undefined) return 0;
  const isWell = findCondition(status.conditions, "Ready")?.status === "True";
  return (isWell ? CHECK_EVERY_MS : LOOK_AGAIN_MS) - elapsedMs(new Date(status.lastCheckedAt), now);
}

async function statusOf(repository: Repository, context: RepositoryContext): Promise<RepositoryStatus> {
  const { metadata, status } = repository;
  const asked = reconcileToken(repository);
  const { reachable, judgement } = await check(repository, context);
  const now = context.clock.now();
  const observedGeneration = metadata.generation;
  const condition = transition(findCondition(status?.conditions, "Ready"), { ...judgement, observedGeneration }, now);
  return {
    ...{ observedGeneration, reachable, lastCheckedAt: now.toISOString(), conditions: [condition] },
    ...(asked === undefined ? {} : { lastHandledReconcileAt: asked }),
  };
}

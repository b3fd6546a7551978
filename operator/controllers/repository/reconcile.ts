import { findCondition, transition, withCondition } from "../../../crds/conditions.ts";
import { HOUR_MS } from "../../../crds/durations.ts";
import { repositoriesOf } from "../../../crds/environment/ephemeral-environment.ts";
import { reconcileToken } from "../../../crds/group.ts";
import { present } from "../../../crds/present.ts";
import { isKept, type Repository, type RepositoryStatus, requestedCheck } from "../../../crds/repository/repository.ts";
import type { Reconcile } from "../../kit/controller/controller.ts";
import { type Clock, elapsedMs } from "../../kit/time/clock.ts";
import type { StatusWriter } from "../../ports/cluster.ts";
import type { OperatorEnvironments } from "../../ports/environments.ts";
import type { WebhookDeliveries } from "../../ports/webhooks/webhook-deliveries.ts";
import { namesUnbound } from "../../repository-access/host-credentials.ts";
import { type CheckDependencies, check, ruleProblem } from "./check.ts";
import { identified } from "./host-identity.ts";

/** The settings and ports of the reconcile of Repositories. */
export interface RepositoryDependencies extends CheckDependencies {
  readonly clock: Clock;
  readonly repositoryStatusWriter: StatusWriter<Repository, RepositoryStatus>;
  readonly environments: Pick<OperatorEnvironments, "countNow">;
  /** True when an environment uses the Repository of this name, from this process's cache. */
  readonly isUsed: (repository: string) => boolean;
  readonly webhookDeliveries: Pick<WebhookDeliveries, "list">;
}

/** Interval of checks, because a host may become unavailable while no environment needs it. */
const CHECK_EVERY_MS = HOUR_MS;
const RECHECK_MS = 300_000;

/** Checks a Repository when due or requested; a finalizer keeps a deleted one until its last environment is gone. */
export function createRepositoryReconciler(context: RepositoryDependencies): Reconcile {
  return async (name) => {
    const repository = context.repositories.find(name);
    if (repository === undefined) return;
    if (repository.metadata.deletionTimestamp !== undefined) return finalize(repository, context);
    return { requeueAfterMs: await checkIfDue(repository, context) };
  };
}

/** A removed finalizer can't be restored, so the API server is asked for users, not only the cache. */
async function finalize(
  repository: Repository,
  { repositoryStatusWriter, environments, isUsed }: RepositoryDependencies,
): Promise<void> {
  const { name } = repository.metadata;
  if (!isKept(repository) || isUsed(name)) return;
  const users = await environments.countNow((environment) => repositoriesOf(environment).includes(name));
  if (users === 0) await repositoryStatusWriter.removeFinalizer(repository);
}

/** Returns the milliseconds until the next check. */
async function checkIfDue(cached: Repository, context: RepositoryDependencies): Promise<number> {
  const { repositoryStatusWriter, isUsed, clock } = context;
  const needsFinalizer = isUsed(cached.metadata.name) && !isKept(cached);
  const current = needsFinalizer ? await repositoryStatusWriter.addFinalizer(cached) : cached;
  const status = identified(current, context.webhookDeliveries.list(), clock.now());
  const repository = status === undefined ? current : await repositoryStatusWriter.writeStatus(current, status);
  const dueInMs = isOutdated(repository, context) ? 0 : untilDueMs(repository, clock.now());
  if (dueInMs > 0) return dueInMs;
  const checked = await repositoryStatusWriter.writeStatus(repository, await statusOf(repository, context));
  return untilDueMs(checked, clock.now());
}

/** True when the condition no longer fits what the Repository names, or the settings. */
function isOutdated(repository: Repository, context: RepositoryDependencies): boolean {
  const reason = findCondition(repository.status?.conditions, "Ready")?.reason;
  const isBroken = ruleProblem(repository, context) !== undefined;
  const isUnbound = namesUnbound(repository, context.settings);
  if (reason === "Checked") return isBroken || isUnbound;
  return (reason === "RulesInvalid" && !isBroken) || (reason === "CredentialNotBound" && !isUnbound);
}

function untilDueMs(repository: Repository, now: Date): number {
  const { metadata, status } = repository;
  const isNew = status?.observedGeneration !== metadata.generation || requestedCheck(repository) !== undefined;
  if (isNew || status.lastCheckedAt === undefined) return 0;
  const isReady = findCondition(status.conditions, "Ready")?.status === "True";
  return (isReady ? CHECK_EVERY_MS : RECHECK_MS) - elapsedMs(new Date(status.lastCheckedAt), now);
}

async function statusOf(repository: Repository, context: RepositoryDependencies): Promise<RepositoryStatus> {
  const { metadata, status } = repository;
  const { reachable, ready } = await check(repository, context);
  const now = context.clock.now();
  const observedGeneration = metadata.generation;
  const condition = transition(findCondition(status?.conditions, "Ready"), { ...ready, observedGeneration }, now);
  const conditions = withCondition(status?.conditions, condition);
  const known = { hostRepository: status?.hostRepository, lastHandledReconcileAt: reconcileToken(repository) };
  return { ...present(known), observedGeneration, reachable, lastCheckedAt: now.toISOString(), conditions };
}

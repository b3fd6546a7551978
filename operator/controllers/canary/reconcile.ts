import type { Settings } from "../../../config/settings.ts";
import { MINUTE_MS } from "../../../crds/durations.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { isCanary } from "../../../crds/environment/managed-by.ts";
import { shownPhase } from "../../../crds/environment/phase.ts";
import { branchOf } from "../../../crds/repository/repository.ts";
import type { Reconcile, ReconcileResult } from "../../kit/controller/controller.ts";
import type { Log } from "../../kit/log.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { EnvironmentLists } from "../../ports/caches.ts";
import type { DecidedWrites, OperatorEnvironments } from "../../ports/environments.ts";
import type { RepositoryFinder } from "../../ports/repositories.ts";

/** The settings and ports of the reconcile of canaries. */
export interface CanaryDependencies {
  readonly settings: Pick<Settings, "canary" | "reconcile">;
  readonly log: Log;
  readonly clock: Clock;
  readonly caches: EnvironmentLists;
  readonly environments: Pick<OperatorEnvironments, "remove">;
  readonly repositories: RepositoryFinder;
  readonly writes: Pick<DecidedWrites, "create">;
  readonly newId: () => string;
}

type CanarySettings = NonNullable<Settings["canary"]>;

/** Fallback for the watch. */
const RECHECK_MS = 30_000;
/** Safety net should the platform be gone at its deletion. */
const TTL_HOURS = 1;

/**
 * Makes an environment now and then, and deletes it once it is ready or failed: its record is what service levels count.
 * The last environment or its record says when the next one is due.
 */
export function createCanaryReconciler(dependencies: CanaryDependencies): Reconcile {
  const chosen = dependencies.settings.canary;
  // The cache may show an environment's record later than its deletion: until then this is the last one's creation.
  const made = { lastMs: 0 };
  return async () => (chosen === undefined ? {} : reconcileCanary(chosen, made, dependencies));
}

async function reconcileCanary(
  chosen: CanarySettings,
  made: { lastMs: number },
  context: CanaryDependencies,
): Promise<ReconcileResult> {
  const { caches, environments, clock } = context;
  const living = caches.environments.list().filter(isCanary);
  const finished = living.filter((one) => one.metadata.deletionTimestamp === undefined && isFinished(one, context));
  for (const one of finished) await environments.remove(one);
  if (living.length > 0) return { requeueAfterMs: RECHECK_MS };
  const nowMs = clock.now().getTime();
  const dueMs = Math.max(made.lastMs, lastMs(caches.records)) + chosen.everyMinutes * MINUTE_MS;
  if (dueMs > nowMs) return { requeueAfterMs: dueMs - nowMs };
  await make(chosen, context);
  made.lastMs = nowMs;
  return { requeueAfterMs: RECHECK_MS };
}

/** One that waits for longer than any environment may take has shown what it was made for. */
function isFinished(environment: EphemeralEnvironment, { clock, settings }: CanaryDependencies): boolean {
  if (["ready", "failed"].includes(shownPhase(environment))) return true;
  const ageMs = clock.now().getTime() - Date.parse(environment.metadata.creationTimestamp);
  return ageMs > settings.reconcile.creationDeadlineMinutes * MINUTE_MS;
}

/** Time of creation of the last recorded canary. */
function lastMs(records: CanaryDependencies["caches"]["records"]): number {
  return records
    .list()
    .filter(isCanary)
    .reduce((last, { spec }) => Math.max(last, Date.parse(spec.createdAt)), 0);
}

/** @throws whatever the port throws: then it is tried again with backoff */
async function make(
  { repository: name }: CanarySettings,
  { repositories, writes, newId, clock, log }: CanaryDependencies,
) {
  const repository = repositories.find(name);
  if (repository === undefined) throw new Error(`settings.canary: there is no Repository '${name}'`);
  const environment = `canary-${Math.floor(clock.now().getTime() / MINUTE_MS).toString(36)}`;
  const spec = {
    backend: { repository: name, branch: branchOf(repository) },
    ttlHours: TTL_HOURS,
    trigger: { kind: "canary" as const },
  };
  const made = await writes.create(environment, spec, newId());
  if (made !== "changed") log.info("a canary was made", { environment });
}

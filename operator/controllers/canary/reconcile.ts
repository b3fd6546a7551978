import type { Settings } from "../../../config/settings.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { isCanary } from "../../../crds/environment/managed-by.ts";
import { shownPhase } from "../../../crds/environment/phase.ts";
import { branchOf } from "../../../crds/repository/repository.ts";
import type { ControllerPorts } from "../../controller-ports.ts";
import type { Controller, ReconcileResult } from "../../kit/controller/controller.ts";
import type { DecidedWrites } from "../../ports/environments.ts";

export interface CanaryContext extends Pick<ControllerPorts, "environments" | "repositories" | "clock" | "log"> {
  readonly settings: Pick<Settings, "canary" | "reconcile">;
  readonly caches: Pick<ControllerPorts["caches"], "environments" | "records">;
  readonly writes: Pick<DecidedWrites, "create">;
  readonly newId: () => string;
}

type CanarySettings = NonNullable<Settings["canary"]>;

const KEY = "canary";
const MINUTE_MS = 60_000;
/** Fallback for the watch. */
const RECHECK_MS = 30_000;
/** Safety net should the platform be gone at its deletion. */
const TTL_HOURS = 1;

/**
 * Controller that creates an environment periodically, and deletes it once it is ready or failed: its record is the
 * basis of service levels, and gives the next due time.
 */
export function canary(context: CanaryContext): Controller {
  const { settings, caches } = context;
  // The record of a canary may reach the cache after the canary's end.
  const made = { lastMs: 0 };
  return {
    name: "canary",
    reconcile: async () => (settings.canary === undefined ? {} : reconcileCanary(settings.canary, made, context)),
    watches: [
      (enqueue) =>
        caches.environments.subscribe((_name, current, previous) => {
          const changed = current ?? previous;
          if (changed !== undefined && isCanary(changed)) enqueue(KEY);
        }),
    ],
    initialKeys: () => (settings.canary === undefined ? [] : [KEY]),
    workers: 1,
  };
}

async function reconcileCanary(
  chosen: CanarySettings,
  made: { lastMs: number },
  context: CanaryContext,
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

/** One that waits longer than any environment may has served its purpose. */
function isFinished(environment: EphemeralEnvironment, { clock, settings }: CanaryContext): boolean {
  if (["ready", "failed"].includes(shownPhase(environment))) return true;
  const ageMs = clock.now().getTime() - Date.parse(environment.metadata.creationTimestamp);
  return ageMs > settings.reconcile.creationDeadlineMinutes * MINUTE_MS;
}

function lastMs(records: CanaryContext["caches"]["records"]): number {
  return records
    .list()
    .filter(isCanary)
    .reduce((last, { spec }) => Math.max(last, Date.parse(spec.createdAt)), 0);
}

/** @throws errors of the port, for a retry with backoff */
async function make({ repository: name }: CanarySettings, { repositories, writes, newId, clock, log }: CanaryContext) {
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

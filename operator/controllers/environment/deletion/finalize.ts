import { type EphemeralEnvironment, hasFinalizer } from "../../../../crds/environment/ephemeral-environment.ts";
import { reportDeleted } from "../../../host-reports/report-deleted.ts";
import { isUnavailable } from "../../../kit/client/errors.ts";
import type { ReconcileResult } from "../../../kit/controller/controller.ts";
import type { Log } from "../../../kit/log.ts";
import type { EnvironmentDependencies } from "../dependencies.ts";
import { storedVariables } from "../desired/variables.ts";
import { componentRepositories } from "../repositories.ts";
import { sameStatus } from "../status/status.ts";
import { withUsage } from "../status/usage.ts";
import { deletionReason, environmentRecord } from "./record.ts";
import { isOver, type Teardown, tearDown } from "./teardown.ts";
import type { Progress } from "./teardown-steps.ts";
import { terminatingStatus } from "./terminating.ts";

/** Fallback for the watches, which report when an object is gone. */
const TEARDOWN_RECHECK_MS = 20_000;
const STUCK_RECHECK_MS = 30_000;

/**
 * Reconcile of a terminating environment: deletes its objects, reports blockers, removes the finalizer. The signal
 * aborts when the reconcile must stop.
 */
export async function finalize(
  environment: EphemeralEnvironment,
  context: EnvironmentDependencies & { readonly signal: AbortSignal },
): Promise<ReconcileResult | undefined> {
  if (!hasFinalizer(environment)) return;
  const { repositories, backingServices, log } = context;
  const variables = storedVariables(environment, componentRepositories(environment, repositories), backingServices);
  const record = (past: Progress, goneAt: Date) =>
    environmentRecord(environment, { ...past, goneAt, services: backingServices });
  const toHost = (signal: AbortSignal) => reportDeleted(environment, context, signal);
  const teardown = await tearDown({ ...environment, variables, reportDeleted: toHost, record }, context);
  context.signal.throwIfAborted();
  reportForced(environment, teardown, log);
  if (isOver(teardown)) {
    await announceEnd(environment, context);
    await context.statusWriter.removeFinalizer(environment);
    log.info("environment removed", { environment: environment.metadata.name });
    return;
  }
  const now = context.clock.now();
  const status = withUsage(terminatingStatus(environment, teardown, now), environment, { ...context, now });
  if (!sameStatus(environment.status, status)) await context.statusWriter.writeStatus(environment, status);
  if (teardown.error !== undefined) throw teardown.error;
  const recheckMs = teardown.blockers.length > 0 ? STUCK_RECHECK_MS : TEARDOWN_RECHECK_MS;
  return { requeueAfterMs: Math.min(recheckMs, teardown.recheckMs ?? recheckMs) };
}

/**
 * Announces the end before the resource is gone, so that a crash loses no message; an impossible message blocks no
 * deletion.
 */
async function announceEnd(
  environment: EphemeralEnvironment,
  { announcer, clock, log }: EnvironmentDependencies,
): Promise<void> {
  const { name, deletionTimestamp = clock.now().toISOString() } = environment.metadata;
  try {
    await announcer?.reportDeleted(environment, deletionReason(environment, deletionTimestamp));
  } catch (error) {
    if (isUnavailable(error)) throw error;
    log.error("the message about a deletion could not be made", { environment: name, error });
  }
}

/** The API server's audit log has the author of the annotation; ours has what it skipped. */
function reportForced({ metadata, spec, status }: EphemeralEnvironment, { steps }: Teardown, log: Log): void {
  const forced = (list: Teardown["steps"] = []) => list.filter(({ state }) => state === "forced");
  const former = new Set(forced(status?.teardown?.steps).map(({ name }) => name));
  const { name: environment, uid } = metadata;
  for (const { name: step, message: left } of forced(steps).filter(({ name }) => !former.has(name))) {
    const owner = spec.owner?.subject;
    log.warn("an admin forced a step of a deletion: something may be left", { environment, uid, step, left, owner });
  }
}

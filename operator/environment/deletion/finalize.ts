import { type EphemeralEnvironment, hasFinalizer } from "../../../crds/environment/ephemeral-environment.ts";
import type { ReconcileResult } from "../../kit/controller/controller.ts";
import type { Log } from "../../kit/log.ts";
import type { EnvironmentStatusWriter } from "../../ports/environments.ts";
import type { Repositories } from "../../ports/repositories.ts";
import { storedVariables } from "../desired/stored-variables.ts";
import { repositoriesOf } from "../repositories.ts";
import { sameStatus } from "../status.ts";
import { environmentRecord } from "./record.ts";
import { isOver, type Teardown, type TeardownContext, tearDown } from "./teardown.ts";
import { terminatingStatus } from "./terminating.ts";

export interface FinalizeContext extends TeardownContext {
  readonly statusWriter: EnvironmentStatusWriter;
  readonly repositories: Repositories;
  readonly log: Log;
}

/** The watches tell when a thing is gone; this is only the net below them. */
const TEARDOWN_RECHECK_MS = 20_000;
/** What is stuck is not hurried by looking. */
const STUCK_RECHECK_MS = 30_000;

/** One pass over an environment that is being deleted: undoes what it can, says what it waits for, lets go at the end. */
export async function finalize(
  environment: EphemeralEnvironment,
  context: FinalizeContext,
): Promise<ReconcileResult | undefined> {
  if (!hasFinalizer(environment)) return;
  const variables = storedVariables(environment, repositoriesOf(environment, context.repositories));
  const teardown = await tearDown(
    { ...environment, variables, record: (steps, goneAt) => environmentRecord(environment, steps, goneAt) },
    context,
  );
  context.signal.throwIfAborted();
  reportForced(environment, teardown, context.log);
  if (isOver(teardown)) {
    await context.statusWriter.removeFinalizer(environment);
    context.log.info("environment removed", { environment: environment.metadata.name });
    return;
  }
  const status = terminatingStatus(environment, teardown, context.clock.now());
  if (!sameStatus(environment.status, status)) await context.statusWriter.writeStatus(environment, status);
  if (teardown.error !== undefined) throw teardown.error;
  return { requeueAfterMs: teardown.blockers.length > 0 ? STUCK_RECHECK_MS : TEARDOWN_RECHECK_MS };
}

/** Who set the annotation is in the API server's audit log; what came of it has to be in ours. */
function reportForced({ metadata, spec, status }: EphemeralEnvironment, { steps }: Teardown, log: Log): void {
  const forced = (list: Teardown["steps"] = []) => list.filter(({ state }) => state === "forced");
  const known = new Set(forced(status?.teardown?.steps).map(({ name }) => name));
  for (const { name: step, message: left } of forced(steps).filter(({ name }) => !known.has(name))) {
    const { name: environment, uid } = metadata;
    log.warn("an admin forced a step of a deletion: something may be left", {
      ...{ environment, uid, step, left, owner: spec.owner?.subject },
    });
  }
}

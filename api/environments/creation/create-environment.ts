import { findCondition } from "../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { IdempotencyRecord } from "../../../crds/environment/idempotency-record.ts";
import { SecretsUnavailable } from "../../../crds/errors.ts";
import type { Caller } from "../../auth/callers.ts";
import { currentRequestId } from "../../request-context.ts";
import type { Services } from "../../route.ts";
import type { CreateRequest } from "../schemas.ts";
import { checkSameRequest, markOf } from "./idempotency-key.ts";
import { type WantedEnvironment, wantedEnvironment } from "./intake.ts";
import { givenValues } from "./overrides.ts";

/** A creation as it was asked for. */
export interface Creation {
  readonly body: CreateRequest;
  readonly caller: Caller;
  /** The caller's own name for this request: asked again, it is answered with what it made. */
  readonly key: string | undefined;
}

type Outside = Pick<Services, "environments" | "secretManager" | "log">;

/**
 * Makes the environment that is asked for, once for a key. What a former attempt with the key has made is the answer
 * whatever has changed since, also the Repositories and the settings.
 *
 * @throws what `wantedEnvironment` and `Environments.create` throw; Refusal (conflict) for a key that another request
 *   had and for a repository without room; SecretsUnavailable when the values that were given with it can't be written
 */
export async function createRequested(
  { body, caller, key }: Creation,
  platform: Outside & Pick<Services, "settings" | "repositories" | "branchHeads" | "configSets" | "quotas">,
): Promise<EphemeralEnvironment> {
  const mark = key === undefined ? undefined : markOf(key, body, caller);
  const known = mark && platform.environments.madeWith(mark.key);
  if (known !== undefined && mark !== undefined) return madeBefore(known, { body, mark }, platform);
  const wanted = await wantedEnvironment(body, caller, platform);
  const leave = platform.quotas.enter(wanted);
  return persist(wanted, platform, mark).finally(leave);
}

/** What a former attempt made, with the values that it may not have written before it ended. */
async function madeBefore(
  environment: EphemeralEnvironment,
  { body, mark }: { readonly body: CreateRequest; readonly mark: IdempotencyRecord },
  platform: Outside,
): Promise<EphemeralEnvironment> {
  checkSameRequest(environment, mark);
  if (!awaitsValues(environment)) return environment;
  const provided = givenValues(body.config_overrides, environment.spec.secrets?.provided ?? []);
  return keepValues(environment, provided, platform);
}

/** Whether values that were given may not be written yet: once the operator has found them, nobody asks for them again. */
function awaitsValues({ metadata, spec, status }: EphemeralEnvironment): boolean {
  if (metadata.deletionTimestamp !== undefined || (spec.secrets?.provided ?? []).length === 0) return false;
  return findCondition(status?.conditions, "SecretsReady")?.status !== "True";
}

/**
 * Makes the environment. The values that were given with it go into the secret manager under its UID, which the API
 * server chooses. After a crash in between the operator gives up waiting for them.
 */
export async function persist(
  { name, spec, provided }: WantedEnvironment,
  platform: Outside,
  mark?: IdempotencyRecord,
): Promise<EphemeralEnvironment> {
  const environment = await platform.environments.create(name, spec, mark);
  if (mark !== undefined) checkSameRequest(environment, mark);
  if (!awaitsValues(environment)) return environment;
  const keeping = keepValues(environment, provided, platform);
  // With a key it stays: it may be a former attempt's, and the next one goes on with it.
  if (mark === undefined) await keeping.catch(() => withdraw(environment, platform));
  return keeping;
}

async function keepValues(
  environment: EphemeralEnvironment,
  provided: WantedEnvironment["provided"],
  { secretManager, log }: Outside,
): Promise<EphemeralEnvironment> {
  const requests = [...provided].map(([variable, value]) => ({ name: variable, version: 1, generate: () => value }));
  try {
    await secretManager.ensure(environment.metadata, requests);
  } catch (cause) {
    const facts = { requestId: currentRequestId(), environment: environment.metadata.name };
    log.warn("provided secrets could not be written", { ...facts, error: cause });
    throw new SecretsUnavailable({ cause });
  }
  return environment;
}

async function withdraw(environment: EphemeralEnvironment, { environments, log }: Outside): Promise<void> {
  await environments.remove(environment).catch((error: unknown) => {
    const facts = { requestId: currentRequestId(), environment: environment.metadata.name };
    log.warn("an environment without its provided secrets could not be removed", { ...facts, error });
  });
}

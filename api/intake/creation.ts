import type { EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";
import { SecretsUnavailable } from "../../crds/errors.ts";
import { currentRequestId } from "../request-scope.ts";
import type { Platform } from "../route.ts";
import type { WantedEnvironment } from "./environment-request.ts";

/**
 * Makes the environment, and writes the values that were given with it into the secret manager: under its UID, which
 * the API server chooses. Values that can't be written take the environment with them; after a crash in between the
 * operator gives up waiting for them.
 *
 * @throws what `Environments.create` throws; SecretsUnavailable when the values can't be written
 */
export async function createWanted(
  { name, spec, provided }: WantedEnvironment,
  platform: Pick<Platform, "environments" | "secretManager" | "log">,
): Promise<EphemeralEnvironment> {
  const environment = await platform.environments.create(name, spec);
  if (provided.size === 0) return environment;
  const requests = [...provided].map(([variable, value]) => ({ name: variable, version: 1, generate: () => value }));
  try {
    await platform.secretManager.ensure(environment.metadata, requests);
  } catch (cause) {
    const facts = { requestId: currentRequestId(), environment: name };
    platform.log.warn("provided secrets could not be written", { ...facts, error: cause });
    await platform.environments.remove(environment).catch((error: unknown) => {
      platform.log.warn("an environment without its provided secrets could not be removed", { ...facts, error });
    });
    throw new SecretsUnavailable({ cause });
  }
  return environment;
}

import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { EnvironmentNotFound } from "../../crds/errors.ts";
import { isUuid, nameProblem } from "../../crds/names.ts";
import { type Caller, visibleTo } from "../auth/access.ts";
import { addAuditObject } from "../request-context.ts";
import type { Services } from "../services.ts";

/**
 * Environment by name, or by id in any case.
 *
 * @throws EnvironmentNotFound also for an invisible environment
 */
export async function visibleEnvironment(
  idOrName: string,
  caller: Caller,
  services: Pick<Services, "environments">,
): Promise<EphemeralEnvironment> {
  const environment = await findVisible(idOrName, caller, services);
  if (environment === undefined) throw new EnvironmentNotFound();
  return addAuditObject(environment);
}

/** Environment by name, or by id in any case, that another one refers to; `undefined` also for an invisible environment. */
export async function findVisible(
  idOrName: string,
  caller: Caller,
  { environments }: Pick<Services, "environments">,
): Promise<EphemeralEnvironment | undefined> {
  const lowerCase = idOrName.toLowerCase();
  const requested = isUuid(lowerCase) ? lowerCase : idOrName;
  // Other texts are not worth a request to the API server.
  const isPossible = isUuid(requested) || nameProblem(requested) === undefined;
  const environment = isPossible ? await environments.find(requested) : undefined;
  return environment !== undefined && visibleTo(caller)(environment.spec) ? environment : undefined;
}

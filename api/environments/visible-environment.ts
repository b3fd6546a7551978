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
  { environments }: Services,
): Promise<EphemeralEnvironment> {
  const lowerCase = idOrName.toLowerCase();
  const requested = isUuid(lowerCase) ? lowerCase : idOrName;
  // Other texts are not worth a request to the API server.
  const isPossible = isUuid(requested) || nameProblem(requested) === undefined;
  const environment = isPossible ? await environments.find(requested) : undefined;
  if (environment === undefined || !visibleTo(caller)(environment.spec)) throw new EnvironmentNotFound();
  return addAuditObject(environment);
}

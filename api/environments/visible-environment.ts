import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { EnvironmentNotFound } from "../../crds/errors.ts";
import { isUuid, nameProblem } from "../../crds/names.ts";
import { visibleTo } from "../auth/access.ts";
import type { Caller } from "../auth/callers.ts";
import { addAuditObject } from "../request-context.ts";
import type { Services } from "../services.ts";

/**
 * The environment of that name, or of that id, whose digits may be of either case.
 *
 * @throws EnvironmentNotFound: one that the caller does not see is answered exactly like one that does not exist
 */
export async function visibleEnvironment(
  idOrName: string,
  caller: Caller,
  { environments }: Pick<Services, "environments">,
): Promise<EphemeralEnvironment> {
  const lowerCase = idOrName.toLowerCase();
  const asked = isUuid(lowerCase) ? lowerCase : idOrName;
  // What can be neither an id nor a name is not worth a question to the cluster.
  const isPossible = isUuid(asked) || nameProblem(asked) === undefined;
  const environment = isPossible ? await environments.find(asked) : undefined;
  if (environment === undefined || !visibleTo(caller)(environment.spec)) throw new EnvironmentNotFound();
  return addAuditObject(environment);
}

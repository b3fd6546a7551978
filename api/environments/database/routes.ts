import { desiredGeneration, isMakingDatabase } from "../../../crds/environment/database-generation.ts";
import { type EphemeralEnvironment, hasDatabase } from "../../../crds/environment/ephemeral-environment.ts";
import { EnvironmentConflict } from "../../../crds/errors.ts";
import { mappingOf } from "../../../crds/repository/values-mapping.ts";
import { route } from "../../route.ts";
import type { Services } from "../../services.ts";
import { EnvironmentPath, EnvironmentReport } from "../schemas.ts";
import { reported } from "../views.ts";
import { visibleEnvironment } from "../visible-environment.ts";

/** Makes the database anew. */
export const resetDatabase = route({
  endpoint: "POST /api/environments/{environment_id}/database/reset",
  summary: "Make the database anew",
  description:
    "Replaces the database by a new one, empty, with its seed or with a new copy, and deletes the former data. The former database serves until the data is loaded; components start anew with the new one. A suspended environment gets it when it is resumed. A request while the database is being made is answered with the environment as it is; one after a failed load begins it again.",
  access: { permission: "environments:update" },
  only: "v2",
  params: EnvironmentPath,
  reply: EnvironmentReport,
  errors: ["ENV_NOT_FOUND", "conflict"],
})(async ({ params, caller }, services) => {
  const environment = await visibleEnvironment(params.environment_id, caller, services);
  assertResettable(environment, services);
  if (isMakingDatabase(environment)) return reported(environment, services);
  const database = { provision: true, generation: desiredGeneration(environment) + 1 } as const;
  return reported(await services.environments.update(environment, { database }), services);
});

function assertResettable(
  environment: EphemeralEnvironment,
  { repositories, configSets, settings }: Pick<Services, "repositories" | "configSets" | "settings">,
): void {
  const { spec, metadata } = environment;
  if (metadata.deletionTimestamp !== undefined) throw new EnvironmentConflict("The environment is being deleted");
  if (!hasDatabase(environment)) throw new EnvironmentConflict("The environment has no database");
  const backend = repositories.find(spec.backend.repository);
  const configSet = spec.configSet === undefined ? undefined : configSets.find(spec.configSet.name)?.spec;
  if (mappingOf({ repositories: { backend }, configSet }, settings) === undefined) return;
  throw new EnvironmentConflict(
    "The chart has values of its own, and only the platform's layout can make a database anew",
  );
}

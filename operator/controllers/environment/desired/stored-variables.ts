import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { wantedSecrets } from "../../../../crds/repository/repository.ts";
import type { BackingService } from "../backing-services/backing-service.ts";
import type { ComponentRepositories } from "../repositories.ts";

/**
 * Variables with possible values of the environment in the secret manager: those in the status, those that users
 * provide, and those that a reconcile may have generated before its status write.
 */
export function storedVariables(
  { spec, status }: EphemeralEnvironment,
  repositories: ComponentRepositories,
  services: readonly BackingService[],
): readonly string[] {
  const generated = [
    ...(status?.secrets ?? []),
    ...services.flatMap(({ secrets }) => secrets),
    ...Object.values(repositories).flatMap(wantedSecrets),
  ];
  return [...new Set([...generated.map(({ name }) => name), ...(spec.secrets?.provided ?? [])])];
}

import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { Component } from "../../../crds/names.ts";
import { neededSecrets, type Repository } from "../../../crds/repository/repository.ts";

/**
 * The variables of which the secret manager may hold a value of this environment's own: those that the status names, those
 * that somebody was to provide, and those that a pass may have made without coming to write its status.
 */
export function storedVariables(
  { spec, status }: EphemeralEnvironment,
  repositories: { readonly [component in Component]?: Repository },
): readonly string[] {
  const made = [...(status?.secrets ?? []), ...neededSecrets(Object.values(repositories), true)];
  return [...new Set([...made.map(({ name }) => name), ...(spec.secrets?.provided ?? [])])];
}

import type { EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";
import type { Repository } from "../../crds/repository.ts";
import { Refusal } from "../refusals.ts";
import type { Platform } from "../route.ts";

type Outside = Pick<Platform, "environments">;

/**
 * Lets no repository have more environments than it says. One of the wanted name does not count: whether that is the
 * answer to an earlier attempt or a name that is taken is the creation's matter.
 *
 * @throws Refusal (conflict)
 */
export function checkRoom(name: string, repositories: readonly Repository[], outside: Outside): void {
  const full = repositories.find((repository) => !hasRoom(repository, outside, name));
  if (full === undefined) return;
  const { metadata, spec } = full;
  const detail = `Repository '${metadata.name}' has as many environments as it may have: ${spec.maxEnvironments}`;
  throw new Refusal("conflict", detail);
}

/** Whether the repository may have one more environment, beside those that are not of the name. */
export function hasRoom({ metadata, spec }: Repository, { environments }: Outside, name?: string): boolean {
  if (spec.maxEnvironments === undefined) return true;
  const others = environments.list().filter((one) => one.metadata.name !== name && has(one, metadata.name));
  return others.length < spec.maxEnvironments;
}

/** Whether it has the repository, and is not about to give it back. */
function has({ metadata, spec }: EphemeralEnvironment, repository: string): boolean {
  const isUsed = [spec.backend.repository, spec.frontend?.repository].includes(repository);
  return isUsed && metadata.deletionTimestamp === undefined;
}

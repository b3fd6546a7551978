/** The repositories for which the settings let webhooks create environments. */
import type { Settings } from "../../config/settings.ts";
import { fullNameOf, type Repository } from "../../crds/repository/repository.ts";

/** Why the settings allow no environments of a repository's organization; `undefined` when they do. */
export function organizationProblem(repository: Repository, { webhooks }: Settings): string | undefined {
  // One that was moved must be allowed where it is now, too.
  const names = [fullNameOf(repository), repository.status?.hostRepository?.fullName ?? fullNameOf(repository)];
  const organizations = names.map((name) => name.split("/")[0] ?? "");
  const refused = organizations.find((one) => !isListed(one, webhooks.allowedOrganizations));
  return refused === undefined ? undefined : `the settings do not allow the organization '${refused}'`;
}

/** The same for the repository itself. */
export function repositoryProblem(repository: Repository, { webhooks }: Settings): string | undefined {
  const name = fullNameOf(repository);
  return isListed(name, webhooks.allowedRepositories) ? undefined : `the settings do not allow '${name}'`;
}

/** Hosts compare names without regard to case; an empty list allows all. */
function isListed(name: string, allowed: readonly string[]): boolean {
  return allowed.length === 0 || allowed.some((one) => one.toLowerCase() === name.toLowerCase());
}

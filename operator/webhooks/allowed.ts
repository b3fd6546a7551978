import type { Settings } from "../../config/settings.ts";
import { fullNameOf, type Repository } from "../../crds/repository/repository.ts";

/** Reason why the settings exclude a repository's organization, if so. */
export function organizationProblem(repository: Repository, { webhooks }: Settings): string | undefined {
  // A moved repository must be allowed at both places.
  const names = [fullNameOf(repository), repository.status?.hostRepository?.fullName ?? fullNameOf(repository)];
  const organizations = names.map((name) => name.split("/")[0] ?? "");
  const refused = organizations.find((one) => !isListed(one, webhooks.allowedOrganizations));
  return refused === undefined ? undefined : `the settings do not allow the organization '${refused}'`;
}

/** Like `organizationProblem`, for the repository. */
export function repositoryProblem(repository: Repository, { webhooks }: Settings): string | undefined {
  const name = fullNameOf(repository);
  return isListed(name, webhooks.allowedRepositories) ? undefined : `the settings do not allow '${name}'`;
}

/** Hosts compare names case-insensitively; an empty list allows all. */
function isListed(name: string, allowed: readonly string[]): boolean {
  return allowed.length === 0 || allowed.some((one) => one.toLowerCase() === name.toLowerCase());
}

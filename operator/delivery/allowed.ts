/** The repositories for which the settings let webhooks create environments. */
import type { Settings } from "../../config/settings.ts";
import { fullNameOf, type Repository } from "../../crds/repository/repository.ts";

/** Why the settings allow no environments of a repository's organization; `undefined` when they do. */
export function organizationProblem(repository: Repository, { webhooks }: Settings): string | undefined {
  const [organization = ""] = fullNameOf(repository).split("/");
  if (isListed(organization, webhooks.allowedOrganizations)) return undefined;
  return `the settings do not allow the organization '${organization}'`;
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

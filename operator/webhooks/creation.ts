import type { Settings } from "../../config/settings.ts";
import type { EnvironmentSpec } from "../../crds/environment/ephemeral-environment.ts";
import { sharedGroups, takesPlace } from "../../crds/environment/repository-use.ts";
import { branchProblem } from "../../crds/repository/branches.ts";
import { admits, branchOf, fullNameOf, isOneRepository, type Repository } from "../../crds/repository/repository.ts";
import type { DecisionContext } from "./decision.ts";

/** Components of a new environment, and its sharing groups. */
export interface CreationComponents {
  readonly sources: Pick<EnvironmentSpec, "backend" | "frontend">;
  readonly groups: string[];
}

interface OwnComponent {
  readonly repository: Repository;
  /** Source from a repository; also for a companion in the same one, as in a monorepo. */
  readonly sourceOf: (repository: Repository) => EnvironmentSpec["backend"];
  /** Branch for a companion in its own repository, if it exists there; else the default branch. */
  readonly branch: string | undefined;
}

/**
 * Component of an event with its Repository's companion: required for a frontend, optional for a backend. The
 * companion's branch is chosen once; in the same repository it has the same commit.
 *
 * @returns the problem, for people, when the companion can't be used
 * @throws HostUnavailable when the companion's host is unreachable, SecretsUnavailable
 */
export async function completed(own: OwnComponent, context: DecisionContext): Promise<CreationComponents | string> {
  const { repository, sourceOf } = own;
  const source = sourceOf(repository);
  const companion = companionOf(repository, context);
  if (typeof companion === "string") return companion;
  const groups = sharedGroups(companion === undefined ? [repository] : [repository, companion]);
  if (companion === undefined) return { sources: { backend: source }, groups };
  if (![repository, companion].every((one) => admits(one, groups))) {
    return `the Repositories '${repository.metadata.name}' and '${companion.metadata.name}' have no group in common`;
  }
  const other = isOneRepository(repository, companion)
    ? sourceOf(companion)
    : { repository: companion.metadata.name, branch: await branchOfCompanion(companion, own, context) };
  const isBackend = repository.spec.type === "backend";
  const sources = isBackend ? { backend: source, frontend: other } : { backend: other, frontend: source };
  return { sources, groups };
}

/** The problem of a component or config set that can't be used. */
export const problemIn = (result: unknown): string | undefined => (typeof result === "string" ? result : undefined);

function companionOf({ spec }: Repository, context: DecisionContext): Repository | string | undefined {
  const name = spec.companionRepository;
  if (name === undefined) {
    return spec.type === "backend" ? undefined : "a frontend needs a backend: set spec.companionRepository";
  }
  const companion = context.repositories.find(name);
  const isUsable = companion !== undefined && companion.spec.type !== spec.type;
  if (!isUsable || companion.metadata.deletionTimestamp !== undefined) {
    return `no ${spec.type === "backend" ? "frontend" : "backend"} Repository '${name}' is registered`;
  }
  return fullProblem(companion, context) ?? companion;
}

/** Reason why a Repository may have no more environments, if so. The limit applies only to creation. */
export function fullProblem(repository: Repository, { environments }: DecisionContext): string | undefined {
  const { metadata, spec } = repository;
  if (spec.maxEnvironments === undefined) return undefined;
  const taken = environments.ofRepository(metadata.name).filter((one) => takesPlace(one, repository));
  if (taken.length < spec.maxEnvironments) return undefined;
  return `Repository '${metadata.name}' has as many environments as it may have: ${spec.maxEnvironments}`;
}

async function branchOfCompanion(companion: Repository, { branch }: OwnComponent, context: DecisionContext) {
  if (branch === undefined || branchProblem(branch) !== undefined) return branchOf(companion);
  const head = await context.branchHeads.headOf(companion, branch);
  return head === undefined ? branchOf(companion) : branch;
}

/** Reason why the settings exclude a repository's organization, if so. */
export function allowedOrganizationsProblem(repository: Repository, { webhooks }: Settings): string | undefined {
  // A moved repository must be allowed at both places.
  const names = [fullNameOf(repository), repository.status?.hostRepository?.fullName ?? fullNameOf(repository)];
  const organizations = names.map((name) => name.split("/")[0] ?? "");
  const refused = organizations.find((one) => !isListed(one, webhooks.allowedOrganizations));
  return refused === undefined ? undefined : `the settings do not allow the organization '${refused}'`;
}

/** Reason why the settings exclude a repository, if so. */
export function allowedRepositoriesProblem(repository: Repository, { webhooks }: Settings): string | undefined {
  const name = fullNameOf(repository);
  return isListed(name, webhooks.allowedRepositories) ? undefined : `the settings do not allow '${name}'`;
}

/** Hosts compare names case-insensitively; an empty list allows all. */
function isListed(name: string, allowed: readonly string[]): boolean {
  return allowed.length === 0 || allowed.some((one) => one.toLowerCase() === name.toLowerCase());
}

import type { EnvironmentSpec } from "../../crds/environment/ephemeral-environment.ts";
import { sharedGroups, takesPlace } from "../../crds/environment/repository-use.ts";
import { branchProblem } from "../../crds/repository/branches.ts";
import { admits, branchOf, isOneRepository, type Repository } from "../../crds/repository/repository.ts";
import type { DecisionContext } from "./decision.ts";

type Source = EnvironmentSpec["backend"];

/** Components of a new environment, and its sharing groups. */
export interface Components {
  readonly sources: Pick<EnvironmentSpec, "backend" | "frontend">;
  readonly groups: string[];
}

interface Own {
  readonly repository: Repository;
  /** Source from a repository; also for a companion in the same one, as in a monorepo. */
  readonly sourceOf: (repository: Repository) => Source;
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
export async function completed(own: Own, context: DecisionContext): Promise<Components | string> {
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

function companionOf({ spec }: Repository, context: DecisionContext): Repository | string | undefined {
  const name = spec.companionRepository;
  if (name === undefined) {
    return spec.type === "backend" ? undefined : "a frontend needs a backend: set spec.companionRepository";
  }
  const found = context.repositories.find(name);
  const isUsable = found !== undefined && found.spec.type !== spec.type;
  if (!isUsable || found.metadata.deletionTimestamp !== undefined) {
    const type = spec.type === "backend" ? "frontend" : "backend";
    return `no ${type} Repository '${name}' is registered`;
  }
  return fullProblem(found, context) ?? found;
}

/** Reason why a Repository may have no more environments, if so. The limit applies only to creation. */
export function fullProblem(
  repository: Repository,
  { environments }: Pick<DecisionContext, "environments">,
): string | undefined {
  const { metadata, spec } = repository;
  if (spec.maxEnvironments === undefined) return undefined;
  const taken = environments.ofRepository(metadata.name).filter((one) => takesPlace(one, repository));
  if (taken.length < spec.maxEnvironments) return undefined;
  return `Repository '${metadata.name}' has as many environments as it may have: ${spec.maxEnvironments}`;
}

async function branchOfCompanion(companion: Repository, { branch }: Own, context: DecisionContext): Promise<string> {
  if (branch === undefined || branchProblem(branch) !== undefined) return branchOf(companion);
  const head = await context.branchHeads.headOf(companion, branch);
  return head === undefined ? branchOf(companion) : branch;
}

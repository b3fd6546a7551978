import { clipped, type Judgement } from "../../crds/conditions.ts";
import type { ConfigSet } from "../../crds/config-set.ts";
import { branchOf, type Repository } from "../../crds/repository.ts";
import type { ConfigSets } from "../ports/config-sets.ts";
import type { Repositories } from "../ports/repositories.ts";
import { type RepositoryHost, RepositoryHostUnavailable } from "../ports/repository-host.ts";

/** What a check found. */
export interface Finding {
  readonly reachable: boolean;
  readonly judgement: Omit<Judgement, "observedGeneration">;
}

interface Known {
  readonly repositories: Repositories;
  readonly configSets: ConfigSets;
}

/** Whether a Repository's host answers, and whether what the Repository says holds together. */
export async function check(
  repository: Repository,
  { repositoryHost, ...known }: Known & { readonly repositoryHost: RepositoryHost },
): Promise<Finding> {
  const branch = branchOf(repository);
  try {
    const head = await repositoryHost.head(repository.spec.cloneUrl, branch);
    if (head !== undefined) return { reachable: true, judgement: judged(ruleProblem(repository, known)) };
    const message = `there is no branch '${branch}': push it, or correct spec.defaultBranch`;
    return { reachable: true, judgement: failing("BranchNotFound", message) };
  } catch (error) {
    if (!(error instanceof RepositoryHostUnavailable)) throw error;
    return { reachable: false, judgement: failing("Unreachable", error.message) };
  }
}

function judged(problem: string | undefined): Finding["judgement"] {
  if (problem !== undefined) return failing("RulesInvalid", problem);
  return { type: "Ready", status: "True", reason: "Checked", message: "" };
}

const failing = (reason: string, message: string): Finding["judgement"] => ({
  ...{ type: "Ready", status: "False", reason },
  message: clipped(message),
});

/** What is wrong with a Repository that its own schema can't tell; `undefined` when nothing is. */
export function ruleProblem({ spec }: Repository, { repositories, configSets }: Known): string | undefined {
  const { companionRepository, pullRequest } = spec;
  const companion = companionRepository === undefined ? undefined : repositories.find(companionRepository);
  if (companionRepository !== undefined && (companion === undefined || companion.spec.type === spec.type)) {
    const other = spec.type === "backend" ? "frontend" : "backend";
    return `spec.companionRepository: no ${other} Repository '${companionRepository}' is registered`;
  }
  if (pullRequest?.configSet === undefined) return undefined;
  return configSetProblem(pullRequest.configSet, configSets.find(pullRequest.configSet));
}

function configSetProblem(name: string, configSet: ConfigSet | undefined): string | undefined {
  if (configSet === undefined) return `spec.pullRequest.configSet: there is no config set '${name}'`;
  return configSet.spec.production ? `spec.pullRequest.configSet: '${name}' is for production` : undefined;
}

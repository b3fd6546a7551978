import { type ConditionDraft, clipped } from "../../crds/conditions.ts";
import type { ConfigSet } from "../../crds/config-set.ts";
import { branchOf, type Repository } from "../../crds/repository/repository.ts";
import type { ConfigSets } from "../ports/config-sets.ts";
import type { Repositories } from "../ports/repositories.ts";
import { CredentialRejected, type RepositoryHost, RepositoryHostUnavailable } from "../ports/repository-host.ts";
import { SecretManagerUnavailable } from "../ports/secret-manager.ts";
import { CredentialRefused, type CredentialSource, cloneCredential, pullCredential } from "./host-credentials.ts";

/** What a check found. */
export interface Finding {
  readonly reachable: boolean;
  readonly judgement: Omit<ConditionDraft, "observedGeneration">;
}

interface Known {
  readonly repositories: Repositories;
  readonly configSets: ConfigSets;
}

interface Outside extends Known, CredentialSource {
  readonly repositoryHost: RepositoryHost;
}

/** Whether a Repository's host answers, and whether what the Repository says holds together. */
export async function check(repository: Repository, outside: Outside): Promise<Finding> {
  const silence = await hostProblem(repository, outside);
  if (silence !== undefined) return silence;
  const judgement = (await pullProblem(repository, outside)) ?? judged(ruleProblem(repository, outside));
  return { reachable: true, judgement };
}

/** What stands between us and the head of the branch. */
async function hostProblem(repository: Repository, outside: Outside): Promise<Finding | undefined> {
  const branch = branchOf(repository);
  try {
    const credential = await cloneCredential(repository, outside);
    const head = await outside.repositoryHost.head(repository.spec.cloneUrl, branch, credential);
    if (head !== undefined) return undefined;
    const message = `there is no branch '${branch}': push it, or correct spec.defaultBranch`;
    return { reachable: true, judgement: failing("BranchNotFound", message) };
  } catch (error) {
    if (error instanceof RepositoryHostUnavailable) {
      return { reachable: false, judgement: failing("Unreachable", error.message) };
    }
    if (error instanceof CredentialRejected) {
      return { reachable: true, judgement: failing(error.name, error.message) };
    }
    // Whether the host answers can't be known without the credential: what was found before stays.
    const reachable = error instanceof SecretManagerUnavailable && repository.status?.reachable === true;
    return { reachable, judgement: refused(error) };
  }
}

/** Nobody pulls here: whether the registry takes the credential is seen by pods. */
async function pullProblem(repository: Repository, outside: Outside): Promise<Finding["judgement"] | undefined> {
  try {
    await pullCredential(repository, outside);
    return undefined;
  } catch (error) {
    return refused(error);
  }
}

/** @throws whatever is no refusal */
function refused(error: unknown): Finding["judgement"] {
  if (error instanceof CredentialRefused) return failing(error.reason, error.message);
  if (error instanceof SecretManagerUnavailable) return failing(error.name, error.message);
  throw error;
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

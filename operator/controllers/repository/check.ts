import { type ConditionDraft, clipped } from "../../../crds/conditions.ts";
import type { ConfigSet } from "../../../crds/config-set.ts";
import { branchOf, type Repository } from "../../../crds/repository/repository.ts";
import { unlistedHost, valuesProblem } from "../../../crds/repository/values-mapping.ts";
import type { ConfigSetFinder } from "../../ports/config-sets.ts";
import type { RepositoryFinder } from "../../ports/repositories.ts";
import { CredentialRejected, type RepositoryHost, RepositoryHostUnavailable } from "../../ports/repository-host.ts";
import { SecretManagerUnavailable } from "../../ports/secret-manager.ts";
import {
  CredentialRefused,
  type CredentialSource,
  chartCredential,
  cloneCredential,
  pullCredential,
} from "../../repository-access/host-credentials.ts";

type ReadyDraft = Omit<ConditionDraft, "observedGeneration">;

interface CheckResult {
  readonly reachable: boolean;
  readonly ready: ReadyDraft;
}

/** The Repositories and config sets that a Repository may name. */
interface Named {
  readonly repositories: RepositoryFinder;
  readonly configSets: ConfigSetFinder;
}

/** The ports that a check asks. */
export interface CheckDependencies extends Named, CredentialSource {
  readonly repositoryHost: RepositoryHost;
}

/** Checks that a Repository's host answers, and that what the Repository names exists. */
export async function check(repository: Repository, outside: CheckDependencies): Promise<CheckResult> {
  const invalid = valuesDraft(repository);
  const problem = await hostProblem(repository, outside);
  if (problem !== undefined) return { ...problem, ready: invalid ?? problem.ready };
  const ready = invalid ?? (await otherProblem(repository, outside)) ?? ruleDraft(repository, outside);
  return { reachable: true, ready };
}

/** Only a YAML parser can check the chart's values. */
function valuesDraft({ spec }: Repository): ReadyDraft | undefined {
  const problem = valuesProblem(spec.chart);
  return problem === undefined ? undefined : notReady("ValuesInvalid", `spec.chart.values: ${problem}`);
}

/** The reason why the head of the branch can't be read. */
async function hostProblem(repository: Repository, outside: CheckDependencies): Promise<CheckResult | undefined> {
  const branch = branchOf(repository);
  try {
    const credential = await cloneCredential(repository, outside);
    const head = await outside.repositoryHost.head(repository.spec.cloneUrl, branch, credential);
    if (head !== undefined) return undefined;
    const message = `there is no branch '${branch}': push it, or correct spec.defaultBranch`;
    return { reachable: true, ready: notReady("BranchNotFound", message) };
  } catch (error) {
    if (error instanceof RepositoryHostUnavailable) {
      return { reachable: false, ready: notReady("Unreachable", error.message) };
    }
    if (error instanceof CredentialRejected) {
      return { reachable: true, ready: notReady(error.name, error.message) };
    }
    // Without the credential the host can't be asked: its former state stays.
    const reachable = error instanceof SecretManagerUnavailable && repository.status?.reachable === true;
    return { reachable, ready: credentialProblem(error) };
  }
}

/** Pods and applications show that a place accepts its credential: the operator pulls neither image nor chart. */
async function otherProblem(repository: Repository, outside: CheckDependencies): Promise<ReadyDraft | undefined> {
  try {
    await pullCredential(repository, outside);
    if (repository.spec.chart !== undefined) await chartCredential({ backend: repository }, outside);
    return undefined;
  } catch (error) {
    return credentialProblem(error);
  }
}

/** @throws errors that are not about the credential */
function credentialProblem(error: unknown): ReadyDraft {
  if (error instanceof CredentialRefused) return notReady(error.reason, error.message);
  if (error instanceof SecretManagerUnavailable) return notReady(error.name, error.message);
  throw error;
}

function ruleDraft(repository: Repository, named: Named): ReadyDraft {
  const problem = ruleProblem(repository, named);
  if (problem !== undefined) return notReady("RulesInvalid", problem);
  return { type: "Ready", status: "True", reason: "Checked", message: "" };
}

function notReady(reason: string, message: string): ReadyDraft {
  return { type: "Ready", status: "False", reason, message: clipped(message) };
}

/** A fault of a Repository that its schema can't check; `undefined` when there is none. */
export function ruleProblem({ spec }: Repository, { repositories, configSets }: Named): string | undefined {
  const { companionRepository, pullRequest } = spec;
  const companion = companionRepository === undefined ? undefined : repositories.find(companionRepository);
  if (companionRepository !== undefined && (companion === undefined || companion.spec.type === spec.type)) {
    const other = spec.type === "backend" ? "frontend" : "backend";
    return `spec.companionRepository: no ${other} Repository '${companionRepository}' is registered`;
  }
  const unlisted = unlistedHost(spec.chart, spec.hosts ?? []);
  if (unlisted !== undefined) return `spec.chart.values: \${hosts.${unlisted}}: spec.hosts lists no host '${unlisted}'`;
  if (pullRequest?.configSet === undefined) return undefined;
  return configSetProblem(pullRequest.configSet, configSets.find(pullRequest.configSet));
}

function configSetProblem(name: string, configSet: ConfigSet | undefined): string | undefined {
  if (configSet === undefined) return `spec.pullRequest.configSet: there is no config set '${name}'`;
  return configSet.spec.production ? `spec.pullRequest.configSet: '${name}' is for production` : undefined;
}

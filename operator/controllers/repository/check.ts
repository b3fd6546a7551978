import { unlistedHost, valuesProblem } from "../../../crds/chart-values/values-mapping.ts";
import { type ConditionDraft, clipped } from "../../../crds/conditions.ts";
import type { ConfigSet } from "../../../crds/config-set.ts";
import { branchOf, type Repository } from "../../../crds/repository/repository.ts";
import type { ControllerPorts } from "../../controller-ports.ts";
import { CredentialRejected, RepositoryHostUnavailable } from "../../ports/repository-host.ts";
import { SecretManagerUnavailable } from "../../ports/secret-manager.ts";
import {
  CredentialRefused,
  type CredentialSource,
  chartCredential,
  cloneCredential,
  pullCredential,
} from "../../repository-access/host-credentials.ts";

/** The condition `Ready` of a Repository, before its generation is known. */
type ReadyDraft = Omit<ConditionDraft, "observedGeneration">;

/** The result of a check. */
export interface Finding {
  readonly reachable: boolean;
  readonly ready: ReadyDraft;
}

type Known = Pick<ControllerPorts, "repositories" | "configSets">;

/** What a check asks. */
export type CheckContext = Known & CredentialSource & Pick<ControllerPorts, "repositoryHost">;

/** Whether a Repository's host answers, and whether what the Repository names exists. */
export async function check(repository: Repository, outside: CheckContext): Promise<Finding> {
  const invalid = valuesDraft(repository);
  const problem = await hostProblem(repository, outside);
  if (problem !== undefined) return { ...problem, ready: invalid ?? problem.ready };
  const ready = invalid ?? (await otherProblem(repository, outside)) ?? readyFor(ruleProblem(repository, outside));
  return { reachable: true, ready };
}

/** Only the reader of YAML can tell whether the values of its chart are any. */
function valuesDraft({ spec }: Repository): ReadyDraft | undefined {
  const problem = valuesProblem(spec.chart);
  return problem === undefined ? undefined : notReady("ValuesInvalid", `spec.chart.values: ${problem}`);
}

/** Why the head of the branch can't be read. */
async function hostProblem(repository: Repository, outside: CheckContext): Promise<Finding | undefined> {
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

/**
 * The operator pulls neither image nor chart: that the registry accepts the credential shows in pods, and that the place of
 * the chart does, in applications.
 */
async function otherProblem(repository: Repository, outside: CheckContext): Promise<ReadyDraft | undefined> {
  try {
    await pullCredential(repository, outside);
    if (repository.spec.chart !== undefined) await chartCredential({ backend: repository }, outside);
    return undefined;
  } catch (error) {
    return credentialProblem(error);
  }
}

/** @throws any error that is not about the credential */
function credentialProblem(error: unknown): ReadyDraft {
  if (error instanceof CredentialRefused) return notReady(error.reason, error.message);
  if (error instanceof SecretManagerUnavailable) return notReady(error.name, error.message);
  throw error;
}

function readyFor(problem: string | undefined): ReadyDraft {
  if (problem !== undefined) return notReady("RulesInvalid", problem);
  return { type: "Ready", status: "True", reason: "Checked", message: "" };
}

function notReady(reason: string, message: string): ReadyDraft {
  return { type: "Ready", status: "False", reason, message: clipped(message) };
}

/** What is wrong with a Repository that its schema can't check; `undefined` when nothing is. */
export function ruleProblem({ spec }: Repository, { repositories, configSets }: Known): string | undefined {
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

import { pipelineKey } from "../../../crds/environment/environment-record.ts";
import type { Pipeline } from "../../../crds/environment/ephemeral-environment.schema.ts";
import type { EnvironmentSpec } from "../../../crds/environment/ephemeral-environment.ts";
import { buildOf, decidingPipeline, pipelineName, withPipelines } from "../../../crds/environment/pipelines.ts";
import { branchEnvironmentName } from "../../../crds/environment/triggered-names.ts";
import { shortCommit } from "../../../crds/names.ts";
import { branchProblem } from "../../../crds/repository/branches.ts";
import { branchOf, type Repository } from "../../../crds/repository/repository.ts";
import { TTL_DEFAULT_HOURS } from "../../../crds/schema.ts";
import type { RuleVerdict } from "../../../crds/webhooks/webhook-delivery.ts";
import { organizationProblem, repositoryProblem } from "../allowed.ts";
import { type Components, completed, fullProblem } from "../components.ts";
import { type Decided, nameTaken, nothing, verdict } from "../decision.ts";
import { countedProblem } from "./counted.ts";
import { knownPipelines, pipelineOf, type ReportedPipeline } from "./report.ts";

/** A report with its branch, the environment to create, and other workflows' reports. */
interface Creation extends ReportedPipeline {
  readonly branch: string;
  readonly name: string;
  readonly pipelines: readonly Pipeline[];
}

/** A rule for pipelines' environments: its name, the outcome's reason and the problem. */
type Checked = readonly [rule: string, reason: string, problem: string | undefined];

/**
 * Creates an environment that follows the branch, for a success of an unused commit, if the Repository's rules allow it
 * and the commit is the branch's head.
 *
 * @throws HostUnavailable when a required host is unreachable, SecretsUnavailable
 */
export async function createdByPipeline(reported: ReportedPipeline): Promise<Decided> {
  const { subject, pipeline, context } = reported;
  const { repository } = subject;
  // The contract's own body names no branch: its report is for the default one, and must be its head.
  const branch = pipeline.branch ?? (subject.host === "" ? branchOf(repository) : undefined);
  const problem = branch === undefined ? "the pipeline is not that of a branch" : branchProblem(branch);
  if (branch === undefined || problem !== undefined) {
    return nothing("BranchInvalid", "only the pipeline of a branch makes an environment", [
      verdict(repository, "head_branch", problem),
    ]);
  }
  const name = branchEnvironmentName(repository.metadata.name, branch);
  const creation = { ...reported, branch, name, pipelines: pipelinesOf(reported) };
  const checked = rulesOf(creation);
  const trace = checked.map(([rule, , broken]) => verdict(repository, rule, broken));
  const [, reason = "", message] = checked.find(([, , broken]) => broken !== undefined) ?? [];
  if (message !== undefined) return nothing(reason, message, trace);
  const existing = context.environments.find(creation.name);
  if (existing !== undefined) return nameTaken(existing, trace);
  return created(creation, trace);
}

function rulesOf(creation: Creation): readonly Checked[] {
  const { subject, context } = creation;
  const { repository } = subject;
  return [
    ["create_on_success", "CreatesNone", createOnSuccessProblem(repository)],
    ["pull_request", "OfPullRequest", pullRequestProblem(creation)],
    ["all_workflows", "NotBuilt", unbuiltProblem(creation)],
    ["allowed_organizations", "OrganizationNotAllowed", organizationProblem(repository, context.settings)],
    ["allowed_repositories", "RepositoryNotAllowed", repositoryProblem(repository, context.settings)],
    ["former_environment", "DeletedBefore", returnProblem(creation)],
    ["max_environments", "RepositoryFull", fullProblem(repository, context)],
  ];
}

/** The commit's known pipelines that count, with the reported one, which may be outdated by now. */
function pipelinesOf({ subject, pipeline, context }: ReportedPipeline): readonly Pipeline[] {
  const { repository } = subject;
  const known = knownPipelines(pipeline.commit, repository, context);
  const counts = countedProblem(pipeline, repository.spec.pipeline) === undefined;
  return withPipelines([], counts ? [...known, pipelineOf(pipeline)] : known, pipeline.commit);
}

/** All counted workflows must have built the commit; the last success creates the environment. */
function unbuiltProblem({ pipelines, context }: Creation): string | undefined {
  const now = context.clock.now();
  const unbuilt = pipelines.filter((one) => !["built", "silent"].includes(buildOf(one, now)));
  const deciding = decidingPipeline(unbuilt);
  return deciding && `${pipelineName(deciding)} has not succeeded: its status is ${deciding.status}`;
}

function createOnSuccessProblem({ metadata, spec }: Repository): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return `Repository '${metadata.name}' is being deleted`;
  const isOn = spec.pipeline?.createOnSuccess ?? true;
  return isOn ? undefined : `pipelines of Repository '${metadata.name}' create no environments`;
}

/** A pull request's own rules, such as a required label, decide about its environment, not its build. */
function pullRequestProblem(creation: Creation): string | undefined {
  const { subject, pipeline } = creation;
  if (subject.repository.spec.pullRequest?.enabled !== true) return undefined;
  const isOfPullRequest = pipeline.event === "pull_request" || isHeadOfPullRequest(creation);
  return isOfPullRequest ? "it is the pipeline of a pull request, whose own rules decide" : undefined;
}

/** True when an event has shown the commit as the head of a pull request from this branch. */
function isHeadOfPullRequest({ subject, pipeline, context, branch }: Creation): boolean {
  const { host, repository } = subject;
  return context.deliveries.ofCommit(pipeline.commit).some(({ spec }) => {
    const isOurs = spec.verified && (spec.host ?? "") === host && spec.repositories?.includes(repository.metadata.name);
    const { headRef, isFork } = spec.event.pullRequest ?? {};
    return isOurs === true && headRef === branch && isFork === false;
  });
}

/** A deleted or expired environment returns only with another commit, whose pipeline ended later. */
function returnProblem({ subject, pipeline, context, name }: Creation): string | undefined {
  const { repository, host } = subject;
  const records = context
    .recordsOf(pipelineKey(host, repository.metadata.name))
    .filter(({ spec }) => spec.name === name);
  const blocking = records.find(({ spec }) => {
    const isSame = spec.components?.[repository.spec.type]?.commit === pipeline.commit;
    return isSame || Date.parse(pipeline.at) < Date.parse(spec.deletedAt);
  });
  return blocking && `the branch's environment was deleted at ${blocking.spec.deletedAt}: push a commit`;
}

async function created(creation: Creation, former: readonly RuleVerdict[]): Promise<Decided> {
  const { subject, pipeline, context, branch, name, pipelines } = creation;
  const { repository } = subject;
  const head = await context.branchHeads.headOf(repository, branch);
  const isHead = head === pipeline.commit;
  const commit = shortCommit(pipeline.commit);
  const problem = isHead ? undefined : `the commit ${commit} is not the head of '${branch}' now`;
  const trace = [...former, verdict(repository, "branch_head", problem)];
  if (problem !== undefined) return nothing("NotTheHead", problem, trace);

  const sourceOf = (one: Repository) => {
    const own = one === repository ? pipelines : pipelinesOf({ ...creation, subject: { ...subject, repository: one } });
    const recorded = own.length === 0 ? {} : { pipelines: [...own] };
    return { repository: one.metadata.name, branch, follow: true, ...recorded };
  };
  const components = await completed({ repository, sourceOf, branch }, context);
  const isUsable = typeof components !== "string";
  const all = [...trace, verdict(repository, "companion_repo", isUsable ? undefined : components)];
  if (!isUsable) return nothing("CompanionUnusable", components, all);
  return {
    decision: { do: "create", name, spec: specOf(creation, components), reason: "PipelineSucceeded" },
    trace: all,
  };
}

function specOf({ subject, context }: Creation, { sources, groups }: Components): EnvironmentSpec {
  const { repository, host, delivery } = subject;
  const named = delivery === undefined ? {} : { delivery };
  return {
    ttlHours: Math.min(TTL_DEFAULT_HOURS, context.settings.ttl.maximumHours),
    ...sources,
    access: { groups },
    trigger: { kind: "pipeline", provider: host, repository: repository.metadata.name, ...named },
  };
}

import { pipelineKey, pullRequestKey } from "../../../crds/environment/environment-record.ts";
import type { Pipeline } from "../../../crds/environment/ephemeral-environment.schema.ts";
import type { EnvironmentSpec } from "../../../crds/environment/ephemeral-environment.ts";
import {
  buildOf,
  decidingPipeline,
  pipelineName,
  withPipeline,
  withPipelines,
} from "../../../crds/environment/pipelines.ts";
import { branchEnvironmentName } from "../../../crds/environment/triggered-names.ts";
import { RECONCILE_ANNOTATION } from "../../../crds/group.ts";
import { shortCommit } from "../../../crds/names.ts";
import { branchProblem } from "../../../crds/repository/branches.ts";
import { branchOf, type Repository } from "../../../crds/repository/repository.ts";
import { TTL_DEFAULT_HOURS } from "../../../crds/schema.ts";
import type { RuleVerdict } from "../../../crds/webhooks/webhook-delivery.ts";
import {
  allowedOrganizationsProblem,
  allowedRepositoriesProblem,
  type CreationComponents,
  completed,
  fullProblem,
  problemIn,
} from "../creation.ts";
import {
  type Decided,
  deletion,
  left,
  nameTaken,
  nothing,
  type RepositoryEvent,
  type RepositoryUse,
  usesOf,
  verdict,
} from "../decision.ts";
import { knownStates } from "../pull-request/states.ts";
import {
  COUNTED_RULES,
  type CountedProblem,
  countedProblem,
  knownPipelines,
  mergedHead,
  pipelineOf,
  type ReportedPipeline,
} from "./report.ts";

/**
 * Decisions about a pipeline's report: every environment that wants its commit, or whose branch has it as its head,
 * records it if it counts. A success without such an environment may create one.
 *
 * @throws HostUnavailable when the branch's head is needed and its host is unreachable, SecretsUnavailable
 */
export async function decidePipeline(reported: ReportedPipeline): Promise<readonly Decided[]> {
  const { pipeline, subject } = reported;
  const uncounted = countedProblem(pipeline, subject.repository.spec.pipeline);
  if (uncounted !== undefined) return [nothing("NotCounted", uncounted.message, countedTrace(uncounted, subject))];
  const merge = ofMerge(reported);
  const uses = merge === undefined ? await concerned(reported) : await concernedByMerge(merge);
  const waiting = uses.filter((use) => isAwaited(use, subject));
  if (waiting.length > 0) return waiting.map((use) => ofUse(use, merge ?? reported));
  if (uses.length > 0) return [nothing("NotAwaited", "pull requests of this Repository wait for no pipeline")];
  if (pipeline.status === "success") return [await createdByPipeline(reported)];
  return [nothing("NoEnvironment", `no environment wants the commit ${shortCommit(pipeline.commit)}`)];
}

function countedTrace({ rule, message }: CountedProblem, { repository }: RepositoryEvent): readonly RuleVerdict[] {
  const met = COUNTED_RULES.slice(0, COUNTED_RULES.indexOf(rule));
  return [...met.map((one) => verdict(repository, one, undefined)), verdict(repository, rule, message)];
}

/** A pull request waits only if its Repository has `pipeline`: other workflows, such as linters, build no image. */
function isAwaited({ environment }: RepositoryUse, { repository }: RepositoryEvent): boolean {
  return environment.spec.trigger?.kind !== "pull_request" || repository.spec.pipeline !== undefined;
}

/**
 * The host is asked for the head, because reports may be reordered and repeated: the pipeline of a replaced commit
 * matters only to environments that want it.
 */
async function concerned({ subject, pipeline, context }: ReportedPipeline): Promise<readonly RepositoryUse[]> {
  const { commit, branch } = pipeline;
  const uses = usesOf(subject, context);
  const desiring = uses.filter(({ desiredCommit }) => desiredCommit === commit);
  const others = uses.filter((use) => !desiring.includes(use) && use.source.branch === branch && isMoved(use, subject));
  if (branch === undefined || others.length === 0) return desiring;
  const head = await context.branchHeads.headOf(subject.repository, branch);
  return head === commit ? [...desiring, ...others] : desiring;
}

/** The report as one of the head commit whose merge it builds; `undefined` without a merge. */
function ofMerge(reported: ReportedPipeline): ReportedPipeline | undefined {
  const { pipeline, subject, context } = reported;
  const { host, repository } = subject;
  if (pipeline.pullRequest === undefined) return undefined;
  const key = pullRequestKey(host, repository.metadata.name, pipeline.pullRequest);
  const states = knownStates(context.deliveries.ofPullRequest(key), subject, context);
  const commit = mergedHead(pipeline, states);
  return commit === undefined ? undefined : { ...reported, pipeline: { ...pipeline, commit } };
}

/**
 * Environments of the pull request that want the head. The host is asked, because a pipeline's report may precede the
 * push that caused it: then the commit's event takes the report along.
 */
async function concernedByMerge({ subject, pipeline, context }: ReportedPipeline): Promise<readonly RepositoryUse[]> {
  const { commit, branch, pullRequest } = pipeline;
  const uses = usesOf(subject, context).filter(({ environment: { spec }, desiredCommit }) => {
    const { kind, number, provider } = spec.trigger ?? {};
    return kind === "pull_request" && number === pullRequest && provider === subject.host && desiredCommit === commit;
  });
  if (uses.length === 0 || branch === undefined) return uses;
  return (await context.branchHeads.headOf(subject.repository, branch)) === commit ? uses : [];
}

/** True when the environment may take the branch's next commit, or end with its canceled pipeline. */
function isMoved({ follows, environment }: RepositoryUse, { repository }: RepositoryEvent): boolean {
  const { kind } = environment.spec.trigger ?? {};
  return follows || kind === "pull_request" || repository.spec.pipeline?.onCanceled === "any";
}

function ofUse(use: RepositoryUse, reported: ReportedPipeline): Decided {
  const { environment, source, follows, desiredCommit } = use;
  const { subject, pipeline, context } = reported;
  const report = pipelineOf(pipeline);
  const former = source.pipelines ?? [];
  const isKnown = ({ attempt, status }: Pipeline) => attempt === report.attempt && status === report.status;
  if (former.some((one) => isSameRun(one, report) && isKnown(one))) {
    return left(environment, "Recorded", "the environment shows this already");
  }
  const pipelines = withPipeline(former, report, source.commit);
  if (pipelines === undefined) {
    return left(environment, "Outdated", "the environment shows a newer report, or waits for another commit's");
  }
  if (pipeline.status === "canceled" && isEnd(use, reported)) {
    return deletion(environment, "PipelineCanceled", [verdict(subject.repository, "on_canceled", undefined)]);
  }
  const spec = { [subject.repository.spec.type]: { ...source, pipelines: [...pipelines] } };
  const isBehind = follows && desiredCommit !== pipeline.commit;
  const annotations = { ...(isBehind && { [RECONCILE_ANNOTATION]: context.clock.now().toISOString() }) };
  return { decision: { do: "update", environment, spec, annotations, reason: REASONS[pipeline.status] }, trace: [] };
}

const isSameRun = (one: Pipeline, other: Pipeline): boolean =>
  one.project === other.project && one.workflow === other.workflow && one.id === other.id;

const REASONS = {
  running: "PipelineRunning",
  success: "PipelineSucceeded",
  failed: "PipelineFailed",
  canceled: "PipelineCanceled",
} as const;

/**
 * True when a canceled pipeline ends the environment: by default one without a first version. A running one stays,
 * because a newer push cancels the earlier pipeline. Reports older than the environment do not count.
 */
function isEnd({ environment, source, isMadeByPipeline }: RepositoryUse, { subject, pipeline }: ReportedPipeline) {
  const { metadata, status } = environment;
  const { repository } = subject;
  const effect = repository.spec.pipeline?.onCanceled ?? "own";
  if (Date.parse(pipeline.at) < Date.parse(metadata.creationTimestamp)) return false;
  if (effect === "any") return source.branch === pipeline.branch;
  const runs = status?.sources?.[repository.spec.type]?.applied !== undefined;
  const isOwn = source.pipelines?.some((one) => isSameRun(one, pipelineOf(pipeline))) === true;
  return effect === "own" && isMadeByPipeline && isOwn && !runs;
}

/** A report with its branch, the environment to create, and other workflows' reports. */
interface Creation extends ReportedPipeline {
  readonly branch: string;
  readonly name: string;
  readonly pipelines: readonly Pipeline[];
}

/**
 * Creates an environment that follows the branch, for a success of an unused commit, if the Repository's rules allow it
 * and the commit is the branch's head.
 */
async function createdByPipeline(reported: ReportedPipeline): Promise<Decided> {
  const { subject, pipeline, context } = reported;
  const { repository } = subject;
  // The contract's own body names no branch: its report is for the default one, and must be its head.
  const branch = pipeline.branch ?? (subject.host === "" ? branchOf(repository) : undefined);
  const problem = branch === undefined ? "the pipeline is not that of a branch" : branchProblem(branch);
  if (branch === undefined || problem !== undefined) {
    const trace = [verdict(repository, "head_branch", problem)];
    return nothing("BranchInvalid", "only the pipeline of a branch makes an environment", trace);
  }
  const name = branchEnvironmentName(repository.metadata.name, branch);
  const creation = { ...reported, branch, name, pipelines: pipelinesOf(reported) };
  const checked = rulesOf(creation);
  const trace = checked.map(([rule, , broken]) => verdict(repository, rule, broken));
  const [, reason = "", message] = checked.find(([, , broken]) => broken !== undefined) ?? [];
  if (message !== undefined) return nothing(reason, message, trace);
  const existing = context.environments.find(name);
  return existing === undefined ? created(creation, trace) : nameTaken(existing, trace);
}

/** The rules: each with its name, the outcome's reason and the problem. */
function rulesOf(
  creation: Creation,
): readonly (readonly [rule: string, reason: string, problem: string | undefined])[] {
  const { subject, context } = creation;
  const { repository } = subject;
  return [
    ["create_on_success", "CreatesNone", createOnSuccessProblem(repository)],
    ["pull_request", "OfPullRequest", pullRequestProblem(creation)],
    ["all_workflows", "NotBuilt", unbuiltProblem(creation)],
    ["allowed_organizations", "OrganizationNotAllowed", allowedOrganizationsProblem(repository, context.settings)],
    ["allowed_repositories", "RepositoryNotAllowed", allowedRepositoriesProblem(repository, context.settings)],
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
  const blocking = context.recordsOf(pipelineKey(host, repository.metadata.name)).find(({ spec }) => {
    const isSame = spec.components?.[repository.spec.type]?.commit === pipeline.commit;
    return spec.name === name && (isSame || Date.parse(pipeline.at) < Date.parse(spec.deletedAt));
  });
  return blocking && `the branch's environment was deleted at ${blocking.spec.deletedAt}: push a commit`;
}

async function created(creation: Creation, former: readonly RuleVerdict[]): Promise<Decided> {
  const { subject, pipeline, context, branch, name, pipelines } = creation;
  const { repository } = subject;
  const isHead = (await context.branchHeads.headOf(repository, branch)) === pipeline.commit;
  const problem = isHead ? undefined : `the commit ${shortCommit(pipeline.commit)} is not the head of '${branch}' now`;
  const trace = [...former, verdict(repository, "branch_head", problem)];
  if (problem !== undefined) return nothing("NotTheHead", problem, trace);

  const sourceOf = (one: Repository) => {
    const own = one === repository ? pipelines : pipelinesOf({ ...creation, subject: { ...subject, repository: one } });
    return { repository: one.metadata.name, branch, follow: true, ...(own.length > 0 && { pipelines: [...own] }) };
  };
  const components = await completed({ repository, sourceOf, branch }, context);
  const all = [...trace, verdict(repository, "companion_repo", problemIn(components))];
  if (typeof components === "string") return nothing("CompanionUnusable", components, all);
  const spec = specOf(creation, components);
  return { decision: { do: "create", name, spec, reason: "PipelineSucceeded" }, trace: all };
}

function specOf({ subject, context }: Creation, { sources, groups }: CreationComponents): EnvironmentSpec {
  const { repository, host, delivery } = subject;
  const { name } = repository.metadata;
  return {
    ttlHours: Math.min(TTL_DEFAULT_HOURS, context.settings.ttl.maximumHours),
    ...sources,
    access: { groups },
    trigger: { kind: "pipeline", provider: host, repository: name, ...(delivery !== undefined && { delivery }) },
  };
}

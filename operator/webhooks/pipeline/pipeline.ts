import { pullRequestKey } from "../../../crds/environment/environment-record.ts";
import type { Pipeline } from "../../../crds/environment/ephemeral-environment.schema.ts";
import { withPipeline } from "../../../crds/environment/pipelines.ts";
import { RECONCILE_ANNOTATION } from "../../../crds/group.ts";
import { shortCommit } from "../../../crds/names.ts";
import type { RuleVerdict } from "../../../crds/webhooks/webhook-delivery.ts";
import { type Decided, deletion, left, nothing, type Subject, verdict } from "../decision.ts";
import { knownStates } from "../pull-request/newest-state.ts";
import { type User, usersOf } from "../users.ts";
import { COUNTED_RULES, type CountedProblem, countedProblem } from "./counted.ts";
import { createdByPipeline } from "./creation.ts";
import { mergedHead, pipelineOf, type ReportedPipeline } from "./report.ts";

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
  const users = merge === undefined ? await concerned(reported) : await concernedByMerge(merge);
  const waiting = users.filter((user) => isAwaited(user, subject));
  if (waiting.length > 0) return waiting.map((user) => ofUser(user, merge ?? reported));
  if (users.length > 0) return [nothing("NotAwaited", "pull requests of this Repository wait for no pipeline")];
  if (pipeline.status === "success") return [await createdByPipeline(reported)];
  return [nothing("NoEnvironment", `no environment wants the commit ${shortCommit(pipeline.commit)}`)];
}

function countedTrace({ rule, message }: CountedProblem, { repository }: Subject): readonly RuleVerdict[] {
  const met = COUNTED_RULES.slice(0, COUNTED_RULES.indexOf(rule));
  return [...met.map((one) => verdict(repository, one, undefined)), verdict(repository, rule, message)];
}

/**
 * A pull request waits for pipelines only if its Repository has `pipeline`: other workflows, such as linters, build no
 * image.
 */
function isAwaited({ environment }: User, { repository }: Subject): boolean {
  return environment.spec.trigger?.kind !== "pull_request" || repository.spec.pipeline !== undefined;
}

/**
 * The host is asked for the head, because reports may be reordered and repeated: the pipeline of a replaced commit
 * matters only to environments that want it.
 */
async function concerned({ subject, pipeline, context }: ReportedPipeline): Promise<readonly User[]> {
  const { commit, branch } = pipeline;
  const users = usersOf(subject, context);
  const wanting = users.filter(({ wanted }) => wanted === commit);
  const others = users.filter(
    (user) => user.wanted !== commit && user.source.branch === branch && isMoved(user, subject),
  );
  if (branch === undefined || others.length === 0) return wanting;
  const head = await context.branchHeads.headOf(subject.repository, branch);
  return head === commit ? [...wanting, ...others] : wanting;
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
async function concernedByMerge({ subject, pipeline, context }: ReportedPipeline): Promise<readonly User[]> {
  const { commit, branch, pullRequest } = pipeline;
  const users = usersOf(subject, context).filter(({ environment: { spec }, wanted }) => {
    const { kind, number, provider } = spec.trigger ?? {};
    return kind === "pull_request" && number === pullRequest && provider === subject.host && wanted === commit;
  });
  if (users.length === 0 || branch === undefined) return users;
  return (await context.branchHeads.headOf(subject.repository, branch)) === commit ? users : [];
}

/** True when the environment may take the branch's next commit, or end with its canceled pipeline. */
function isMoved({ follows, environment }: User, { repository }: Subject): boolean {
  const { kind } = environment.spec.trigger ?? {};
  return follows || kind === "pull_request" || repository.spec.pipeline?.onCanceled === "any";
}

function ofUser(user: User, reported: ReportedPipeline): Decided {
  const { environment, source, follows, wanted } = user;
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
  if (pipeline.status === "canceled" && isEnd(user, reported)) {
    return deletion(environment, "PipelineCanceled", [verdict(subject.repository, "on_canceled", undefined)]);
  }
  const spec = { [subject.repository.spec.type]: { ...source, pipelines: [...pipelines] } };
  const isBehind = follows && wanted !== pipeline.commit;
  const annotations = isBehind ? { annotations: { [RECONCILE_ANNOTATION]: context.clock.now().toISOString() } } : {};
  return { decision: { do: "update", environment, spec, ...annotations, reason: REASONS[pipeline.status] }, trace: [] };
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
function isEnd({ environment, source, isMadeByPipeline }: User, { subject, pipeline }: ReportedPipeline): boolean {
  const { metadata, status } = environment;
  const { repository } = subject;
  const effect = repository.spec.pipeline?.onCanceled ?? "own";
  if (Date.parse(pipeline.at) < Date.parse(metadata.creationTimestamp)) return false;
  if (effect === "any") return source.branch === pipeline.branch;
  const runs = status?.sources?.[repository.spec.type]?.applied !== undefined;
  const isOwn = source.pipelines?.some((one) => isSameRun(one, pipelineOf(pipeline))) === true;
  return effect === "own" && isMadeByPipeline && isOwn && !runs;
}

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
import { mergedHead } from "./merged-head.ts";
import { pipelineOf, type ReportedPipeline } from "./report.ts";

/**
 * What to do about a pipeline's report that counts: every environment that wants its commit, or has the branch whose head the commit is
 * now, records it. A success without such an environment may create one.
 *
 * @throws HostUnavailable when the head of the branch must be known and its host can't be asked, SecretsUnavailable
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

/** The verdicts up to the rule that is not met. */
function countedTrace({ rule, message }: CountedProblem, { repository }: Subject): readonly RuleVerdict[] {
  const met = COUNTED_RULES.slice(0, COUNTED_RULES.indexOf(rule));
  return [...met.map((one) => verdict(repository, one, undefined)), verdict(repository, rule, message)];
}

/** A pull request waits for pipelines only where its Repository has `pipeline`: other workflows, such as linters, build no image. */
function isAwaited({ environment }: User, { repository }: Subject): boolean {
  return environment.spec.trigger?.kind !== "pull_request" || repository.spec.pipeline !== undefined;
}

/**
 * The head is asked of the host, because reports are reordered and repeated: the pipeline of a commit that was replaced
 * concerns nothing but what still wants it.
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

/** The report as one of the head commit whose merge it builds; `undefined` where it builds no merge. */
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
 * The environments of the pull request that want the head. Its host is asked, because a pipeline may be reported before the push that
 * caused it: the report is taken along with that commit then.
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

/** Whether the branch's next commit may become the environment's, or its canceled pipeline the environment's end. */
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
 * Whether a canceled pipeline ends the environment: by default one that it was to give its first version. One that runs is
 * kept, because a newer push cancels the pipeline before. A report from before the environment is not about it.
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

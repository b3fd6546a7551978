import type { Pipeline } from "../../../crds/environment/ephemeral-environment.schema.ts";
import type { EnvironmentSpec } from "../../../crds/environment/ephemeral-environment.ts";
import { withPipelines } from "../../../crds/environment/pipelines.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import type { WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import type { PipelineState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { DecisionContext, Subject } from "../decision.ts";
import type { PullRequestFacts } from "../pull-request/facts.ts";
import type { KnownState } from "../pull-request/newest-state.ts";
import { countedProblem } from "./counted.ts";

/** A pipeline's report for one Repository and its environments. */
export interface ReportedPipeline {
  readonly subject: Subject;
  readonly pipeline: PipelineState;
  readonly context: DecisionContext;
}

/** The report in an environment's form. */
export function pipelineOf({ project, workflow = "", id, attempt, commit, status, url, at }: PipelineState): Pipeline {
  const more = { ...(attempt === undefined ? {} : { attempt }), ...(url === undefined ? {} : { url }) };
  return { project, workflow, id, commit, status, at, ...more };
}

type Source = EnvironmentSpec["backend"];

type OfPullRequest = Pick<PullRequestFacts, "states" | "deliveries">;

/**
 * A source with its commit's pipelines, if the Repository has pipelines and counted reports exist: a branch may be
 * built long before its pull request is opened, and reports may precede the push that caused them.
 */
export function withReports(
  source: Source,
  repository: Repository,
  facts: OfPullRequest & Pick<PullRequestFacts, "context">,
): Source {
  const { commit, pipelines = [] } = source;
  if (repository.spec.pipeline === undefined || commit === undefined) return source;
  const known = withPipelines(pipelines, knownPipelines(commit, repository, facts.context, facts), commit);
  return known.length === 0 ? source : { ...source, pipelines: [...known] };
}

/**
 * Stored reports of a commit that count, in order of arrival.
 *
 * @param of pull request with this head, whose merges' reports count too
 */
export function knownPipelines(
  commit: string,
  repository: Repository,
  { deliveries }: Pick<DecisionContext, "deliveries">,
  of: OfPullRequest = { states: [], deliveries: [] },
): readonly Pipeline[] {
  const isOfMerge = ({ spec: { event } }: WebhookDelivery) =>
    event.pipeline !== undefined && mergedHead(event.pipeline, of.states) === commit;
  return [...new Set([...deliveries.ofCommit(commit), ...of.deliveries.filter(isOfMerge)])]
    .toSorted((one, other) => (one.spec.receivedAt < other.spec.receivedAt ? -1 : 1))
    .flatMap(({ spec }) => {
      const { pipeline } = spec.event;
      const isOurs = spec.verified && spec.repositories?.includes(repository.metadata.name);
      const counts = pipeline !== undefined && countedProblem(pipeline, repository.spec.pipeline) === undefined;
      return isOurs && counts ? [pipelineOf({ ...pipeline, commit })] : [];
    });
}

/** Hosts give whole seconds, and update a pull request while its pipeline is created. */
const SAME_MOMENT_MS = 10_000;

/**
 * Head commit of a merge's pipeline; `undefined` for a branch's.
 *
 * GitLab builds merged results: a separate commit, whose pipeline names the merge request and no source commit
 * (https://docs.gitlab.com/ci/pipelines/merged_results_pipelines/). It is the merge request's head at the pipeline's
 * creation. The next head's pipeline, with a higher id, corrects a wrong guess within seconds.
 *
 * @param states of the pull request, newest last
 */
export function mergedHead(
  { pullRequest, commit, createdAt, at }: PipelineState,
  states: readonly KnownState[],
): string | undefined {
  if (pullRequest === undefined || states.some(({ state }) => state.headCommit === commit)) return undefined;
  const createdMs = Date.parse(createdAt ?? at) + SAME_MOMENT_MS;
  const then = states.findLast(({ atMs }) => atMs <= createdMs) ?? states[0];
  return then?.state.headCommit;
}

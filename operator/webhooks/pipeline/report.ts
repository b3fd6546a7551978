import type { Pipeline } from "../../../crds/environment/ephemeral-environment.schema.ts";
import type { EnvironmentSpec } from "../../../crds/environment/ephemeral-environment.ts";
import { withPipelines } from "../../../crds/environment/pipelines.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import type { WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import type { PipelineState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { DecisionContext, Subject } from "../decision.ts";
import type { PullRequestFacts } from "../pull-request/facts.ts";
import { countedProblem } from "./counted.ts";
import { mergedHead } from "./merged-head.ts";

/** A pipeline's report as one Repository sees it; only environments of this Repository are concerned. */
export interface ReportedPipeline {
  readonly subject: Subject;
  readonly pipeline: PipelineState;
  readonly context: DecisionContext;
}

/** The report as an environment records it. */
export function pipelineOf({ project, workflow = "", id, attempt, commit, status, url, at }: PipelineState): Pipeline {
  const more = { ...(attempt === undefined ? {} : { attempt }), ...(url === undefined ? {} : { url }) };
  return { project, workflow, id, commit, status, at, ...more };
}

type Source = EnvironmentSpec["backend"];

/** What is known of a pull request. */
type OfPullRequest = Pick<PullRequestFacts, "states" | "deliveries">;

/**
 * A source with the pipelines of its commit, if the Repository has pipelines and some that count have reported already: a
 * branch may be built long before its pull request is opened, and reports may come before the push that caused them.
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
 * The stored reports about a commit that count, in the order of their arrival.
 *
 * @param of where the commit is the head of a pull request: those of its merges count for it
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

import type { Pipeline } from "../../../crds/environment/ephemeral-environment.schema.ts";
import type { EnvironmentSpec } from "../../../crds/environment/ephemeral-environment.ts";
import { mayFollow } from "../../../crds/environment/pipelines.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import type { PipelineState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { DecisionContext, Subject } from "../decision.ts";
import { countedProblem } from "./counted.ts";

/** A pipeline's report as one Repository sees it; only environments of this Repository are concerned. */
export interface ReportedPipeline {
  readonly subject: Subject;
  readonly pipeline: PipelineState;
  readonly context: DecisionContext;
}

/** The report as an environment records it. */
export function pipelineOf({ project, id, commit, status, url, at }: PipelineState): Pipeline {
  return { project, id, commit, status, at, ...(url === undefined ? {} : { url }) };
}

type Source = EnvironmentSpec["backend"];

/**
 * A source with the pipeline of its commit, if the Repository has pipelines and one that counts has reported already: a branch may be
 * built long before its pull request is opened, and reports may come before the push that caused them.
 */
export function withReport(
  source: Source,
  repository: Repository,
  { deliveries }: Pick<DecisionContext, "deliveries">,
): Source {
  if (repository.spec.pipeline === undefined || source.commit === undefined) return source;
  const reports = deliveries.ofCommit(source.commit).flatMap(({ spec }) => {
    const { pipeline } = spec.event;
    const isOurs = spec.verified && spec.repositories?.includes(repository.metadata.name);
    const counts = pipeline !== undefined && countedProblem(pipeline, repository.spec.pipeline) === undefined;
    return isOurs && counts ? [pipelineOf(pipeline)] : [];
  });
  const newest = reports.reduce<Pipeline | undefined>(
    (former, next) => (mayFollow(next, former, source.commit) ? next : former),
    source.pipeline,
  );
  return newest === undefined ? source : { ...source, pipeline: newest };
}

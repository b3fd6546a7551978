import type { Pipeline } from "../../../crds/environment/ephemeral-environment.schema.ts";
import type { EnvironmentSpec } from "../../../crds/environment/ephemeral-environment.ts";
import { withPipelines } from "../../../crds/environment/pipelines.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import { DEFAULT_PIPELINE_EVENTS, type PipelineRules } from "../../../crds/repository/webhook-rules.schema.ts";
import type { WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import type { PipelineState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { DecisionContext, RepositoryEvent } from "../decision.ts";
import type { RuleInput } from "../pull-request/rules.ts";
import type { KnownState } from "../pull-request/states.ts";

/** A pipeline's report for one Repository and its environments. */
export interface ReportedPipeline {
  readonly subject: RepositoryEvent;
  readonly pipeline: PipelineState;
  readonly context: DecisionContext;
}

/** The report in an environment's form. */
export function pipelineOf({ project, workflow = "", id, attempt, commit, status, url, at }: PipelineState): Pipeline {
  const more = { ...(attempt !== undefined && { attempt }), ...(url !== undefined && { url }) };
  return { project, workflow, id, commit, status, at, ...more };
}

/**
 * A source with its commit's pipelines, if the Repository has pipelines and counted reports exist: a branch may be
 * built long before its pull request is opened, and reports may precede the push that caused them.
 */
export function withReports(
  source: EnvironmentSpec["backend"],
  repository: Repository,
  input: RuleInput,
): EnvironmentSpec["backend"] {
  const { commit, pipelines = [] } = source;
  if (repository.spec.pipeline === undefined || commit === undefined) return source;
  const known = withPipelines(pipelines, knownPipelines(commit, repository, input.context, input), commit);
  return known.length === 0 ? source : { ...source, pipelines: [...known] };
}

/** Stored reports of a commit that count, in order of arrival; those of merges, too, `of` a pull request. */
export function knownPipelines(
  commit: string,
  repository: Repository,
  { deliveries }: DecisionContext,
  of: Pick<RuleInput, "states" | "deliveries"> = { states: [], deliveries: [] },
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

/** A rule of the Repository that a run violates. */
export interface CountedProblem {
  readonly rule: "events" | "workflows";
  /** A sentence for people. */
  readonly message: string;
}

/** Rules in the order of their evaluation. */
export const COUNTED_RULES = ["events", "workflows"] as const satisfies readonly CountedProblem["rule"][];

/**
 * Reason why a run does not count for its commit's build, if so. Comments, issues and schedules run workflows of a
 * commit without building it.
 *
 * @param run counts as one of every event if its sender names none
 * @param rules `spec.pipeline` of the Repository
 */
export function countedProblem(
  { event, workflow, name }: Pick<PipelineState, "event" | "workflow" | "name">,
  { events = [...DEFAULT_PIPELINE_EVENTS], workflows }: PipelineRules = {},
): CountedProblem | undefined {
  if (event !== undefined && !events.some((counted) => counted === event)) {
    return { rule: "events", message: `runs of the event '${event}' do not count: spec.pipeline.events lists others` };
  }
  if (workflows === undefined || workflows.some((named) => named === name || isSameFile(named, workflow)))
    return undefined;
  const unnamed = workflow ?? name;
  const subject = unnamed === undefined ? "runs without a workflow's name" : `runs of '${unnamed}'`;
  return { rule: "workflows", message: `${subject} do not count: spec.pipeline.workflows lists others` };
}

/** Gitea reports the file without its folder, and people write either. */
function isSameFile(named: string, workflow: string | undefined): boolean {
  if (workflow === undefined || named === workflow) return workflow !== undefined;
  const hasFolders = named.includes("/") && workflow.includes("/");
  return !hasFolders && fileOf(named) === fileOf(workflow);
}

const fileOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

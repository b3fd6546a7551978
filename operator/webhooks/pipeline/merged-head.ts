import type { PipelineState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { KnownState } from "../pull-request/newest-state.ts";

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

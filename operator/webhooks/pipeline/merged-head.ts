import type { PipelineState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { KnownState } from "../pull-request/newest-state.ts";

/** Hosts give whole seconds, and update a pull request while its pipeline is created. */
const SAME_MOMENT_MS = 10_000;

/**
 * The head commit for which a pipeline of a merge speaks; `undefined` for a pipeline of a commit that a branch has.
 *
 * GitLab builds merged results: a commit of its own, whose pipeline names the merge request and no commit of its source
 * (https://docs.gitlab.com/ci/pipelines/merged_results_pipelines/). It is the head that the merge request had when the pipeline
 * was created. A wrong guess, of a head that was replaced within seconds, is put right by the next head's pipeline: it has a higher id.
 *
 * @param states of the pull request, the newest last
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

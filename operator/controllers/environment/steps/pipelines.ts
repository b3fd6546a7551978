import { desiredCommit } from "../../../../crds/environment/component-build.ts";
import { componentsOf, type EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { BUILDING } from "../../../../crds/environment/phase.ts";
import { buildOf, pipelineEnd, pipelineName } from "../../../../crds/environment/pipelines.ts";
import { pipelinesOfDesiredCommits } from "../../../../crds/environment/progress.ts";
import { type Component, shortCommit } from "../../../../crds/names.ts";
import { elapsedMs } from "../../../kit/time/clock.ts";
import type { ComponentRepositories } from "../repositories.ts";
import { specChangedAt } from "../status/status.ts";
import { failed, type Unfinished, waiting } from "../step-result.ts";

/** Pending or failed pipelines of the commits; `undefined` when all may be deployed. */
export function pipelineResult(
  environment: EphemeralEnvironment,
  repositories: ComponentRepositories,
  now: Date,
): Unfinished | undefined {
  const pipelines = pipelinesOfDesiredCommits(environment).map((one) => ({ ...one, build: buildOf(one, now) }));
  const broken = pipelines.find(({ build }) => build === "failed");
  if (broken !== undefined) {
    const { commit, status, component, url } = broken;
    const outcome = status === "canceled" ? "was canceled" : "failed";
    const message = `${pipelineName(broken)} ${outcome} for the ${component}'s commit ${shortCommit(commit)}`;
    const remedy = "run it again, or request another commit";
    return failed("PipelineFailed", `${message}${url === undefined ? "" : ` (${url})`}: ${remedy}`);
  }
  const running = pipelines.filter(({ build }) => build === "building");
  const awaited = [
    ...running.map((pipeline) => ({
      message: `${pipelineName(pipeline)} builds the ${pipeline.component}`,
      leftMs: pipelineEnd(pipeline).getTime() - now.getTime(),
    })),
    ...unreported(environment, repositories, now),
  ];
  if (awaited.length === 0) return undefined;
  const requeueAfterMs = Math.min(REPORT_FALLBACK_MS, ...awaited.map(({ leftMs }) => leftMs));
  return waiting(BUILDING, awaited.map(({ message }) => message).join("; "), { requeueAfterMs });
}

/** A pipeline's report changes the spec, which enqueues the environment. */
const REPORT_FALLBACK_MS = 7_200_000;

/** Wait of a pull request's commit for its pipeline's first report: it may have none, or an old one. */
const FIRST_REPORT_MS = 5 * 60_000;

/** New commits without a pipeline's report, and their remaining wait: a push precedes its pipeline. */
function unreported(environment: EphemeralEnvironment, repositories: ComponentRepositories, now: Date) {
  return componentsOf(environment).flatMap((component) => {
    const { branch, pipelines = [] } = environment.spec[component] ?? {};
    const applied = environment.status?.sources?.[component]?.applied;
    const commit = desiredCommit(environment, component) ?? "";
    const isApplied = applied?.branch === branch && applied?.commit === commit;
    if (isApplied || pipelines.some((pipeline) => pipeline.commit === commit)) return [];
    const leftMs = firstReportMs(environment, component, { repositories, now });
    return leftMs > 0
      ? [{ message: `the ${component}'s commit ${shortCommit(commit)} waits for its pipeline`, leftMs }]
      : [];
  });
}

/** Remaining wait for the first report of a new commit's pipeline; 0 for a component without pipelines. */
function firstReportMs(
  environment: EphemeralEnvironment,
  component: Component,
  { repositories, now }: { readonly repositories: ComponentRepositories; readonly now: Date },
): number {
  const { trigger, [component]: source } = environment.spec;
  if (source?.follow && !source.commit) return source.pipelines?.length ? REPORT_FALLBACK_MS : 0;
  const hasPipelines = repositories[component]?.spec.pipeline !== undefined;
  const isOfPullRequest = trigger?.kind === "pull_request" && trigger.repository === source?.repository;
  // A fork's pull request has a ref as its branch, and no reported pipelines.
  if (!hasPipelines || !isOfPullRequest || source?.branch?.startsWith("refs/")) return 0;
  return FIRST_REPORT_MS - elapsedMs(new Date(specChangedAt(environment, now)), now);
}

import { componentBuild } from "../../crds/environment/component-build.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { COMPONENTS } from "../../crds/names.ts";
import type { PodProblem } from "../ports/pods.ts";

/**
 * The remedy of a pod's problem; where a pull request's image can't be pulled, with the commit that its pipeline may have
 * built instead of the head: GitHub's pipelines of pull requests check out the merge into the base.
 */
export function remedyOf(problem: PodProblem, environment: EphemeralEnvironment): string {
  const { reason, component, remedy } = problem;
  const own = COMPONENTS.find((one) => one === component);
  const applied = own && environment.status?.sources?.[own]?.applied;
  if (reason !== "ImagePullFailed" || own === undefined || applied === undefined) return remedy;
  // Pods that no label says to be its may be of other programs.
  if (problem.isUnlabelled && !problem.what.includes(`'${applied.image}'`)) return remedy;
  const { mergeCommit } = componentBuild(environment, own, applied);
  if (mergeCommit === undefined || applied.image.includes(short(mergeCommit))) return remedy;
  return (
    `there is no image for head commit ${short(applied.commit)}; if the pipeline builds the merge commit ${short(mergeCommit)}, ` +
    `use {mergeCommit} in image.tagTemplate of the Repository; else ${remedy}`
  );
}

/** As many digits as a tag has at least. */
const short = (commit: string) => commit.slice(0, 7);

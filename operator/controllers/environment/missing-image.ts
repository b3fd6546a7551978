import { componentBuild } from "../../../crds/environment/component-build.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { COMPONENTS, shortCommit } from "../../../crds/names.ts";
import type { PodProblem } from "../../ports/pods.ts";

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
  // So few digits of it has a tag at least.
  if (mergeCommit === undefined || applied.image.includes(mergeCommit.slice(0, 7))) return remedy;
  return (
    `there is no image for head commit ${shortCommit(applied.commit)}; if the pipeline builds the merge commit ${shortCommit(mergeCommit)}, ` +
    `use {mergeCommit} in image.tagTemplate of the Repository; else ${remedy}`
  );
}

/** As many digits as a tag has at least. */

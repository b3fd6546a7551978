import { componentBuild } from "../../../crds/environment/component-build.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { COMPONENTS, shortCommit } from "../../../crds/names.ts";
import type { PodProblem } from "../../ports/pods.ts";

/**
 * Remedy for a pod's problem; for a pull request's missing image with the commit that its pipeline may have built
 * instead of the head: GitHub's pull request pipelines check out the merge into the base.
 */
export function remedyOf(problem: PodProblem, environment: EphemeralEnvironment): string {
  const { reason, component, remedy } = problem;
  const own = COMPONENTS.find((one) => one === component);
  const applied = own && environment.status?.sources?.[own]?.applied;
  if (reason !== "ImagePullFailed" || own === undefined || applied === undefined) return remedy;
  // Unlabelled pods may belong to other programs.
  if (problem.isUnlabelled && !problem.what.includes(`'${applied.image}'`)) return remedy;
  const { mergeCommit } = componentBuild(environment, own, applied);
  // Least digits of a commit in a tag.
  if (mergeCommit === undefined || applied.image.includes(mergeCommit.slice(0, 7))) return remedy;
  return (
    `there is no image for head commit ${shortCommit(applied.commit)}; if the pipeline builds the merge commit ${shortCommit(mergeCommit)}, ` +
    `use {mergeCommit} in image.tagTemplate of the Repository; else ${remedy}`
  );
}

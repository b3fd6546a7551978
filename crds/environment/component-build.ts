import type { Component } from "../names.ts";
import type { Build } from "../repository/image-tag.ts";
import type { EphemeralEnvironment } from "./ephemeral-environment.ts";

/**
 * Facts about the build of a component's commit. The pull request counts only for the component of its own Repository:
 * a companion has none. The pipeline counts only where exactly one built the commit: of several, it is unknown which
 * made the image.
 */
export function componentBuild(
  { spec }: EphemeralEnvironment,
  component: Component,
  { branch, commit }: Pick<Build, "branch" | "commit">,
): Build {
  const { repository, pipelines = [], mergeCommit } = spec[component] ?? {};
  const { kind, repository: origin, number } = spec.trigger ?? {};
  const [pipeline, ...others] = pipelines.filter((one) => one.commit === commit);
  return {
    branch,
    commit,
    pullRequest: kind === "pull_request" && origin === repository ? number : undefined,
    pipeline: others.length === 0 ? pipeline?.id : undefined,
    mergeCommit: mergeCommit?.head === commit ? mergeCommit.commit : undefined,
  };
}

/** The commit that a component should run; `undefined` while the head of its branch is unknown. */
export function desiredCommit(
  { spec, status }: Pick<EphemeralEnvironment, "spec" | "status">,
  component: Component,
): string | undefined {
  const { branch, commit } = spec[component] ?? {};
  const resolved = status?.sources?.[component]?.resolved;
  return commit || (resolved?.branch === branch ? resolved?.commit : undefined);
}

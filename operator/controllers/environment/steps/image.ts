import { componentBuild } from "../../../../crds/environment/component-build.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { type Component, shortCommit } from "../../../../crds/names.ts";
import { type Build, missingPlaceholder, type TagPlaceholder } from "../../../../crds/repository/image-tag.ts";
import { imageOf, type Repository, tagTemplateOf } from "../../../../crds/repository/repository.ts";
import { failed, type Unfinished, waiting } from "../step-result.ts";

/** Desired commit of a component. */
interface ComponentCommit extends Pick<Build, "branch" | "commit"> {
  readonly component: Component;
}

/**
 * Image of a component's commit. `ImageInvalid`: impossible; `ImageUnknown`: a placeholder of the tag has not been
 * reported by a webhook yet.
 */
export function imageResult(
  repository: Repository,
  environment: EphemeralEnvironment,
  { component, ...source }: ComponentCommit,
): string | Unfinished {
  const build = componentBuild(environment, component, source);
  const missing = missingPlaceholder(tagTemplateOf(repository), build);
  if (missing !== undefined) {
    const template = `image.tagTemplate '${tagTemplateOf(repository)}' of Repository '${repository.metadata.name}'`;
    return MISSING[missing](environment, { ...source, component }, template);
  }
  const image = imageOf(repository, build);
  if (TAGGED.test(image)) return image;
  const tag = image.slice(image.lastIndexOf(":") + 1, image.lastIndexOf(":") + 60);
  const message = `'${tag}…' is not a valid image tag: shorten or rename the branch, or correct image.tagTemplate of Repository '${repository.metadata.name}'`;
  return failed("ImageInvalid", message);
}

/** Tag of at most 128 characters: https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests */
const TAGGED = /:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;

type Missing = (environment: EphemeralEnvironment, of: ComponentCommit, template: string) => Unfinished;

/** Fallback: a report changes the spec, which enqueues the environment. */
const REPORT_FALLBACK_MS = 7_200_000;

const unknown = (message: string) => waiting("ImageUnknown", message, { requeueAfterMs: REPORT_FALLBACK_MS });

/** Reason and remedy for a placeholder without a value. An invented tag could be another build's. */
const MISSING: { readonly [name in TagPlaceholder]: Missing } = {
  commit: neverMissing,
  short: neverMissing,
  branch: neverMissing,

  pullRequest: (_environment, { component }, template) =>
    failed(
      "ImageInvalid",
      `${template} stands for a pull request, and the ${component} of this environment is not that of one: use {branch} or {commit}, which every environment has`,
    ),

  pipeline(environment, { component, commit }, template) {
    const { pipelines = [] } = environment.spec[component] ?? {};
    const reported = pipelines.filter((one) => one.commit === commit);
    if (reported.length > 1) {
      const names = reported.map(({ id, workflow }) => `${id} (${workflow})`).join(", ");
      const message = `${template} stands for one pipeline, and the ${component}'s commit ${shortCommit(commit)} has several: ${names}; name the one that builds the image in pipeline.workflows of the Repository`;
      return failed("ImageInvalid", message);
    }
    return unknown(
      `${template} stands for the pipeline that builds the ${component}'s commit ${shortCommit(commit)}, and none was reported: run it, or check the Repository's webhook`,
    );
  },

  mergeCommit: (_environment, { component, commit }, template) =>
    unknown(
      `${template} stands for the commit that merges the ${component}'s commit ${shortCommit(commit)}, and no pull request was reported with one`,
    ),
};

function neverMissing(): never {
  throw new Error("every commit has a SHA and a branch");
}

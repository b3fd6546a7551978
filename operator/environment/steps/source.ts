import type { ComponentStatus, EphemeralEnvironment } from "../../../crds/ephemeral-environment.ts";
import type { Component } from "../../../crds/names.ts";
import { imageOf, type Repository } from "../../../crds/repository.ts";
import { componentsOf } from "../desired/values.ts";
import { missingRepository, repositoriesOf } from "../repositories.ts";
import { done, failed, type Step, type StepContext, type StepResult } from "../step.ts";

/** Settles the commit of every component: what was asked for, else the head of the branch, asked once. */
export const source: Step = {
  condition: "SourceResolved",
  after: [],

  async run(environment, context) {
    const repositories = repositoriesOf(environment, context.repositories);
    const missing = missingRepository(environment, repositories);
    if (missing !== undefined) return missing;

    const components = componentsOf(environment);
    const settle = (component: Component) =>
      settled(environment, component, repositories[component] as Repository, context);
    const outcomes = await Promise.all(components.map(settle));
    const problem = outcomes.find((outcome) => "state" in outcome);
    if (problem !== undefined) return problem as StepResult;
    return done("Resolved", {
      findings: { components: Object.fromEntries(components.map((component, i) => [component, outcomes[i]])) },
    });
  },
};

async function settled(
  environment: EphemeralEnvironment,
  component: Component,
  repository: Repository,
  context: StepContext,
): Promise<ComponentStatus | StepResult> {
  const former = environment.status?.components?.[component];
  const branch = environment.spec[component]?.branch ?? "";
  const { cloneUrl } = repository.spec;
  const commit = known(environment, component, context) ?? (await context.repositoryHost.head(cloneUrl, branch));
  if (commit === undefined) return branchNotFound(component, branch, repository);
  const image = imageOf(repository, { commit, branch });
  return isImage(image) ? { ...former, branch, commit, image } : imageInvalid(image, repository);
}

/**
 * The commit that needs no question: the requested one; the one settled for this branch before; or, when a crash came
 * between making the application and writing the status, the one that the application carries.
 */
function known(environment: EphemeralEnvironment, component: Component, { deployer }: StepContext): string | undefined {
  const { commit, branch } = environment.spec[component] ?? {};
  if (commit) return commit;
  const former = environment.status?.components?.[component];
  const remembered = former ?? deployer.deployedSources(environment.metadata)[component];
  return remembered?.branch === branch ? remembered?.commit : undefined;
}

/** Nothing tells when somebody pushes the branch. */
const BRANCH_RECHECK_MS = 30_000;

function branchNotFound(component: Component, branch: string, { metadata }: Repository): StepResult {
  const message = `repository '${metadata.name}' has no branch '${branch}': push it, or correct spec.${component}.branch`;
  return { ...failed("BranchNotFound", message), recheckAfterMs: BRANCH_RECHECK_MS };
}

/** https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests: at most 128 characters of a tag. */
function isImage(image: string): boolean {
  return /:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(image);
}

function imageInvalid(image: string, { metadata }: Repository): StepResult {
  const tag = image.slice(image.lastIndexOf(":") + 1, image.lastIndexOf(":") + 60);
  return failed(
    "ImageInvalid",
    `'${tag}…' is no image tag: shorten the branch, or correct image.tagTemplate of Repository '${metadata.name}'`,
  );
}

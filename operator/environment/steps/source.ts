import type { ComponentStatus, EphemeralEnvironment } from "../../../crds/ephemeral-environment.ts";
import type { Component } from "../../../crds/names.ts";
import { imageOf, type Repository } from "../../../crds/repository.ts";
import { RepositoryHostUnavailable } from "../../ports/repository-host.ts";
import { componentsOf } from "../desired/values.ts";
import { missingRepository, repositoriesOf } from "../repositories.ts";
import { done, failed, type Step, type StepContext, type StepResult, waiting } from "../step.ts";

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
  try {
    const commit =
      known(environment, component, context) ?? (await context.repositoryHost.head(repository.spec.cloneUrl, branch));
    if (commit === undefined) {
      return failed(
        "BranchNotFound",
        `${component}: repository '${repository.metadata.name}' has no branch '${branch}': push it, or correct spec.${component}.branch`,
      );
    }
    return { ...former, branch, commit, image: imageOf(repository, { commit, branch }) };
  } catch (error) {
    if (!(error instanceof RepositoryHostUnavailable)) throw error;
    return waiting("RepositoryHostUnavailable", `${component}: ${error.message}`, { recheckAfterMs: 5_000 });
  }
}

/**
 * The commit that needs no question: the requested one; the one settled for this branch before; or, when a crash came
 * between making the application and writing the status, the one that the application carries.
 */
function known(environment: EphemeralEnvironment, component: Component, { deployer }: StepContext): string | undefined {
  const { commit, branch } = environment.spec[component] ?? {};
  if (commit) return commit;
  const former = environment.status?.components?.[component];
  if (former?.branch === branch && former?.commit) return former.commit;
  return former === undefined ? deployer.deployedCommits(environment.metadata)[component] : undefined;
}

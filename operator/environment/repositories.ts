import type { Settings } from "../../config/settings.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { COMPONENTS, type Component } from "../../crds/names.ts";
import type { ChartSource, Repository } from "../../crds/repository/repository.ts";
import { isCrowdedOut, mayHave, wasGranted } from "../../crds/repository/repository-use.ts";
import type { Repositories } from "../ports/repositories.ts";
import { failed, type StepContext, type Unfinished } from "./step.ts";

/**
 * The Repositories that the environment's components name and that it may have; one that is absent, of the other type or
 * not shared with it is left out.
 */
export function repositoriesOf(
  environment: EphemeralEnvironment,
  repositories: Repositories,
): { readonly [component in Component]?: Repository } {
  const find = (component: Component) => {
    const found = named(environment, component, repositories);
    return found !== undefined && isGranted(environment, found) ? { [component]: found } : {};
  };
  return { ...find("backend"), ...find("frontend") };
}

/** The chart that the environment is rendered with: the backend Repository's own, else the default one. */
export function chartOf({ backend }: { readonly backend?: Repository }, { defaultChart }: Settings): ChartSource {
  return backend?.spec.chart ?? defaultChart;
}

/** Nobody tells when another environment gives its place back. */
const FULL_RECHECK_MS = 30_000;

/**
 * What a step answers when the environment can't have a component's Repository: it is not there, not shared with the
 * environment, or has no place for a new one. A change of the Repository wakes the environment.
 */
export function repositoryProblem(
  environment: EphemeralEnvironment,
  { repositories, environmentsOf }: Pick<StepContext, "repositories" | "environmentsOf">,
): Unfinished | undefined {
  for (const component of COMPONENTS.filter((one) => environment.spec[one] !== undefined)) {
    const repository = named(environment, component, repositories);
    if (repository === undefined) return notFound(environment, component);
    if (!isGranted(environment, repository)) return notShared(repository);
    const candidates = () => environmentsOf(repository.metadata.name);
    if (isCrowdedOut(environment, repository, candidates)) return full(repository);
  }
  return undefined;
}

function named(
  { spec }: EphemeralEnvironment,
  component: Component,
  repositories: Repositories,
): Repository | undefined {
  const source = spec[component];
  const found = source && repositories.find(source.repository);
  return found?.spec.type === component ? found : undefined;
}

const isGranted = (environment: EphemeralEnvironment, repository: Repository) =>
  wasGranted(environment) || mayHave(environment, repository);

function notFound({ spec }: EphemeralEnvironment, component: Component): Unfinished {
  return failed(
    "RepositoryNotFound",
    `no ${component} Repository '${spec[component]?.repository}' is registered: register it, or make the environment anew with another one`,
  );
}

function notShared({ metadata }: Repository): Unfinished {
  return failed(
    "RepositoryNotShared",
    `Repository '${metadata.name}' is for groups that this environment does not name: make the environment anew with one of them in spec.access.groups, or with another Repository`,
  );
}

function full({ metadata, spec }: Repository): Unfinished {
  const message = `Repository '${metadata.name}' has as many environments as it may have: ${spec.maxEnvironments}; delete one of them, or raise its maxEnvironments`;
  return { ...failed("RepositoryFull", message), requeueAfterMs: FULL_RECHECK_MS };
}

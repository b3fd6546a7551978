import { componentsOf, type EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import {
  grantedRepository,
  isCrowdedOut,
  isGranted,
  namedRepository,
} from "../../../crds/environment/repository-use.ts";
import type { Component } from "../../../crds/names.ts";
import { present } from "../../../crds/present.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import type { Repositories } from "../../ports/repositories.ts";
import { failed, type Unfinished } from "./step-result.ts";

export type ComponentRepositories = { readonly [component in Component]?: Repository };

/** Usable Repositories of the environment's components, without missing and unshared ones and those of the other type. */
export function componentRepositories(
  environment: EphemeralEnvironment,
  repositories: Repositories,
): ComponentRepositories {
  const find = (component: Component) =>
    present({ [component]: grantedRepository(environment, component, repositories) });
  return { ...find("backend"), ...find("frontend") };
}

/** The registered Repositories, and their use. */
export interface RepositorySources {
  readonly repositories: Repositories;
  /** The environments that name the Repository, from this process's cache. */
  readonly environmentsOf: (repository: string) => readonly EphemeralEnvironment[];
}

/** No watch shows when another environment frees its place. */
const FULL_RECHECK_MS = 30_000;

/** Result for a Repository that is missing, unshared or full; its change enqueues the environment. */
export function repositoryProblem(
  environment: EphemeralEnvironment,
  { repositories, environmentsOf }: RepositorySources,
): Unfinished | undefined {
  for (const component of componentsOf(environment)) {
    const repository = namedRepository(environment, component, repositories);
    if (repository === undefined) return notFound(environment, component);
    if (!isGranted(environment, repository)) return notShared(repository);
    const candidates = () => environmentsOf(repository.metadata.name);
    if (isCrowdedOut(environment, repository, candidates)) return full(repository);
  }
  return undefined;
}

function notFound({ spec }: EphemeralEnvironment, component: Component): Unfinished {
  const message = `no ${component} Repository '${spec[component]?.repository}' is registered: register it, or create the environment again with another one`;
  return failed("RepositoryNotFound", message);
}

function notShared({ metadata }: Repository): Unfinished {
  const message = `Repository '${metadata.name}' is not shared with the groups of this environment: create the environment again with one of its groups in spec.access.groups, or with another Repository`;
  return failed("RepositoryNotShared", message);
}

function full({ metadata, spec }: Repository): Unfinished {
  const message = `Repository '${metadata.name}' has reached its limit of ${spec.maxEnvironments} environments: delete one of them, or raise its maxEnvironments`;
  return failed("RepositoryFull", message, { requeueAfterMs: FULL_RECHECK_MS });
}

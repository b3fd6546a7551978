import { type EnvironmentSpec, repositoriesOf } from "../../crds/environment/ephemeral-environment.ts";
import { takesPlace } from "../../crds/environment/repository-use.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import type { Environments } from "../../operator/ports/api/environments.ts";
import type { RepositoryFinder } from "../../operator/ports/repositories.ts";
import { HttpError } from "../errors.ts";

/** A creation in flight, in no list yet. */
interface Creation {
  readonly name: string;
  readonly spec: EnvironmentSpec;
}

/**
 * Enforces each Repository's maximum of environments. Each replica counts the environments in its cache and its own
 * creations in flight: simultaneous ones of several replicas can exceed the maximum, by one for each.
 */
export interface RepositoryQuotas {
  /**
   * Reserves room until the returned function is called, once the environment is listed or has failed. An environment
   * of the same name does not count: the creation finds out whether an earlier attempt created it or the name is taken.
   *
   * @throws HttpError (conflict)
   */
  reserve(creation: Creation): () => void;
  hasRoom(repository: Repository): boolean;
}

interface QuotaParts {
  readonly environments: Environments;
  readonly repositories: RepositoryFinder;
}

export function createRepositoryQuotas({ environments, repositories }: QuotaParts): RepositoryQuotas {
  const underWay = new Set<Creation>();
  const isFull = (repository: Repository, name?: string) => {
    const { metadata, spec } = repository;
    if (spec.maxEnvironments === undefined) return false;
    const listed = environments.list().filter((one) => takesPlace(one, repository));
    const made = [...underWay].filter((one) => uses(one.spec, metadata.name));
    const names = new Set([...listed.map((one) => one.metadata.name), ...made.map((one) => one.name)]);
    if (name !== undefined) names.delete(name);
    return names.size >= spec.maxEnvironments;
  };
  return {
    reserve(creation) {
      const used = repositoriesOf(creation).map((id) => repositories.find(id));
      const full = used.find((repository) => repository !== undefined && isFull(repository, creation.name));
      if (full !== undefined) throw quotaSpent(full);
      underWay.add(creation);
      return () => void underWay.delete(creation);
    },
    hasRoom: (repository) => !isFull(repository),
  };
}

function quotaSpent({ metadata, spec }: Repository): HttpError {
  const detail = `Repository '${metadata.name}' has as many environments as it may have: ${spec.maxEnvironments}`;
  return new HttpError("conflict", detail);
}

const uses = (spec: EnvironmentSpec, repository: string) => repositoriesOf({ spec }).includes(repository);

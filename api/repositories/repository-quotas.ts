import type { EnvironmentSpec } from "../../crds/environment/ephemeral-environment.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import { takesPlace } from "../../crds/repository/repository-use.ts";
import type { Environments } from "../../operator/ports/facade/environments.ts";
import type { Repositories } from "../../operator/ports/repositories.ts";
import { HttpError } from "../errors.ts";

/** A creation under way: no list shows its environment yet. */
interface Creation {
  readonly name: string;
  readonly spec: EnvironmentSpec;
}

/**
 * Lets no repository have more environments than it says. Each replica counts what its cache shows and what it is making
 * itself: creations by several replicas at the same moment can exceed the number, by one for each other replica's
 * creation under way.
 */
export interface RepositoryQuotas {
  /**
   * Takes room for a creation until the returned function is called: the list has its environment then, or there will be
   * none. One of the same name does not count: whether that is the answer to an earlier attempt or a name that is taken
   * is the creation's matter.
   *
   * @throws HttpError (conflict)
   */
  reserve(creation: Creation): () => void;
  /** Whether the repository may have one more environment. */
  hasRoom(repository: Repository): boolean;
}

interface Outside {
  readonly environments: Pick<Environments, "list">;
  readonly repositories: Pick<Repositories, "find">;
}

export function createRepositoryQuotas({ environments, repositories }: Outside): RepositoryQuotas {
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
      const used = repositoriesOf(creation.spec).map((id) => repositories.find(id));
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

const repositoriesOf = ({ backend, frontend }: EnvironmentSpec): readonly string[] =>
  frontend === undefined ? [backend.repository] : [backend.repository, frontend.repository];

const uses = (spec: EnvironmentSpec, repository: string) => repositoriesOf(spec).includes(repository);

import { RepositoryNotFound } from "../../crds/errors.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import type { RepositoryFinder } from "../../operator/ports/repositories.ts";
import { type Caller, mayUse } from "../auth/access.ts";

/** True when the caller may create environments of it, and it is not being deleted. */
export function isUsable(repository: Repository, caller: Caller): boolean {
  return repository.metadata.deletionTimestamp === undefined && mayUse(caller, repository);
}

/**
 * Repository of this id, for a new environment.
 *
 * @param requested the field that names it, and the required type, if any
 * @throws RepositoryNotFound also for a Repository that the caller may not use
 */
export function usableRepository(
  id: string,
  requested: { readonly field: string; readonly type?: Repository["spec"]["type"]; readonly caller: Caller },
  repositories: RepositoryFinder,
): Repository {
  const found = repositories.find(id);
  const isRequested =
    found !== undefined && isUsable(found, requested.caller) && (requested.type ?? found.spec.type) === found.spec.type;
  if (!isRequested) throw new RepositoryNotFound(id, requested.field);
  return found;
}

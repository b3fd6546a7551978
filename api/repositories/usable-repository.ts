import { RepositoryNotFound } from "../../crds/errors.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import { type Caller, mayUse } from "../auth/access.ts";
import type { Services } from "../services.ts";

/** True when the caller may create environments of it, and it is not being deleted. */
export function isUsable(repository: Repository, caller: Caller): boolean {
  return repository.metadata.deletionTimestamp === undefined && mayUse(caller, repository);
}

/**
 * Repository of this id, for a new environment.
 *
 * @param asked the field that names it, and the required type, if any
 * @throws RepositoryNotFound also for a Repository that the caller may not use
 */
export function usableRepository(
  id: string,
  asked: { readonly field: string; readonly type?: Repository["spec"]["type"]; readonly caller: Caller },
  { repositories }: Pick<Services, "repositories">,
): Repository {
  const found = repositories.find(id);
  const isAsked =
    found !== undefined && isUsable(found, asked.caller) && (asked.type ?? found.spec.type) === found.spec.type;
  if (!isAsked) throw new RepositoryNotFound(id, asked.field);
  return found;
}

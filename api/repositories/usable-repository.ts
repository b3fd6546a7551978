import { RepositoryNotFound } from "../../crds/errors.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import { mayUse } from "../auth/access.ts";
import type { Caller } from "../auth/callers.ts";
import type { Services } from "../services.ts";

/** Whether the caller may make environments of it. One that is being deleted stays for those it has, and makes no more. */
export function isUsable(repository: Repository, caller: Caller): boolean {
  return repository.metadata.deletionTimestamp === undefined && mayUse(caller, repository);
}

/**
 * The Repository of this id, to make environments of. One that the caller may not use looks like one that does not exist.
 *
 * @param asked the field that names it, and which type it has to be, if that matters
 * @throws RepositoryNotFound
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

import type { EnvironmentSpec } from "../../crds/ephemeral-environment.ts";
import { ConfigInvalid, RepositoryNotFound, TtlExceeded } from "../../crds/errors.ts";
import { TTL_DEFAULT_HOURS } from "../../crds/lifetime.ts";
import type { Repository } from "../../crds/repository.ts";
import { mayUse, sharedGroups } from "../auth/access.ts";
import type { Caller } from "../auth/callers.ts";
import type { Platform } from "../route.ts";
import type { CreateRequest } from "../schemas/environments.ts";

const FALLBACK_BRANCH = "main";

/**
 * The resource that a creation asks for: REST names become the spec's, the caller its owner.
 *
 * @throws TtlExceeded, ConfigInvalid, RepositoryNotFound (also for a repository that the caller may not use)
 */
export function environmentSpec(
  request: CreateRequest,
  caller: Caller,
  { settings, repositories }: Pick<Platform, "settings" | "repositories">,
): EnvironmentSpec {
  const { maximumHours } = settings.ttl;
  if (request.ttl !== undefined && request.ttl > maximumHours) throw new TtlExceeded(maximumHours);
  checkFrontend(request);
  const usable = (id: string, type: Repository["spec"]["type"]) => {
    const repository = repositories.find(id);
    const isUsable = repository?.spec.type === type && mayUse(caller, repository);
    if (!isUsable) throw new RepositoryNotFound(id, `${type}_repo`);
    return repository;
  };
  const backend = usable(request.backend_repo, "backend");
  const frontend = request.frontend_repo ? usable(request.frontend_repo, "frontend") : undefined;
  return {
    ttlHours: request.ttl ?? Math.min(TTL_DEFAULT_HOURS, maximumHours),
    backend: source(backend, request.backend_branch, request.backend_commit),
    ...(frontend ? { frontend: source(frontend, request.frontend_branch, request.frontend_commit) } : {}),
    owner: { subject: caller.subject, email: caller.email, name: caller.name },
    access: { groups: sharedGroups(frontend ? [backend, frontend] : [backend]) },
    trigger: { kind: "api" },
  };
}

/** A branch or commit of a frontend that was not asked for is a mistake, and ignoring it would hide it. */
function checkFrontend(request: CreateRequest): void {
  if (request.frontend_repo) return;
  const stray = (["frontend_branch", "frontend_commit"] as const).filter((field) => request[field]);
  if (stray.length > 0) throw new ConfigInvalid(stray.map((field) => ({ field, message: "needs frontend_repo" })));
}

function source({ metadata, spec }: Repository, branch: string | undefined, commit: string | undefined) {
  return {
    repository: metadata.name,
    branch: branch || (spec.defaultBranch ?? FALLBACK_BRANCH),
    ...(commit ? { commit } : {}),
  };
}

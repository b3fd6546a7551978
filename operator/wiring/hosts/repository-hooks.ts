import { giteaRepositoryHooks } from "../../adapters/gitea/repository-hooks.ts";
import { githubRepositoryHooks } from "../../adapters/github/repository-hooks.ts";
import { gitlabRepositoryHooks } from "../../adapters/gitlab/repository-hooks.ts";
import type { RepositoryHooks } from "../../ports/webhooks/repository-hooks.ts";
import type { HostApis } from "./host-apis.ts";

/** RepositoryHooks port that dispatches to the repository's host. */
export function repositoryHooks(apis: HostApis): RepositoryHooks {
  const of = apis.by<RepositoryHooks>({
    github: githubRepositoryHooks,
    gitea: giteaRepositoryHooks,
    gitlab: gitlabRepositoryHooks,
  });
  return {
    list: async (repository, ...rest) => of(repository).list(repository, ...rest),
    lastDelivery: async (repository, ...rest) => of(repository).lastDelivery(repository, ...rest),
    put: async (repository, ...rest) => of(repository).put(repository, ...rest),
    resume: async (repository, ...rest) => of(repository).resume(repository, ...rest),
  };
}

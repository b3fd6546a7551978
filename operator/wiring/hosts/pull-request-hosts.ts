import { giteaPullRequestHost } from "../../adapters/gitea/pull-request-host.ts";
import { githubPullRequestHost } from "../../adapters/github/pull-request-host.ts";
import { gitlabPullRequestHost } from "../../adapters/gitlab/pull-request-host.ts";
import type { PullRequestHost } from "../../ports/webhooks/pull-request-host.ts";
import type { HostApis } from "./host-apis.ts";

/** PullRequestHost port that dispatches to the repository's host. */
export function pullRequestHosts(apis: HostApis): PullRequestHost {
  const of = apis.by<PullRequestHost>({
    github: githubPullRequestHost,
    gitea: giteaPullRequestHost,
    gitlab: gitlabPullRequestHost,
  });
  return {
    report: async (repository, ...rest) => of(repository).report(repository, ...rest),
    comment: async (repository, ...rest) => of(repository).comment(repository, ...rest),
    deploy: async (repository, ...rest) => of(repository).deploy(repository, ...rest),
    retire: async (repository, ...rest) => of(repository).retire(repository, ...rest),
  };
}

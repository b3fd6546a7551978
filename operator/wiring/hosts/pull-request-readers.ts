import { giteaPullRequestReader } from "../../adapters/gitea/pull-request-reader.ts";
import { githubPullRequestReader } from "../../adapters/github/pull-request-reader.ts";
import { gitlabPullRequestReader } from "../../adapters/gitlab/pull-request-reader.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { PullRequestReader } from "../../ports/webhooks/pull-request-reader.ts";
import type { HostApis } from "./host-apis.ts";

/** PullRequestReader port that dispatches to the repository's host. */
export function pullRequestReaders(apis: HostApis, clock: Clock): PullRequestReader {
  const of = apis.by<PullRequestReader>({
    github: (_request, api) => githubPullRequestReader(api, clock),
    gitea: (_request, api) => giteaPullRequestReader(api, clock),
    gitlab: (_request, api) => gitlabPullRequestReader(api, clock),
  });
  return {
    openPullRequests: async (repository, ...rest) => of(repository).openPullRequests(repository, ...rest),
    pullRequest: async (repository, ...rest) => of(repository).pullRequest(repository, ...rest),
    redeliver: async (repository, ...rest) => of(repository).redeliver(repository, ...rest),
  };
}

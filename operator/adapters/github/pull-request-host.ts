import type { PullRequestHost } from "../../ports/webhooks/pull-request-host.ts";
import type { HostRequest } from "../host-api/host-api.ts";
import { repositoryCalls } from "../host-api/repository-calls.ts";
import { githubDeployments } from "./deployments.ts";

/** The PullRequestHost port over GitHub's API, https://docs.github.com/en/rest. */
export function githubPullRequestHost(request: HostRequest): PullRequestHost {
  return { ...repositoryCalls(request, { pageSize: 100 }), ...githubDeployments(request) };
}

import type { PullRequestHost } from "../../ports/webhooks/pull-request-host.ts";
import type { HostRequest } from "../host-api/host-api.ts";
import { repositoryCalls, userOf } from "../host-api/repository-calls.ts";

/** PullRequestHost port over Gitea's API, https://docs.gitea.com/api/1.25/. Without deployments. */
export function giteaPullRequestHost(request: HostRequest): PullRequestHost {
  return {
    ...repositoryCalls(request, { pageSize: undefined, self: (signal) => userOf(request, signal) }),
    deploy: async () => undefined,
    retire: async () => undefined,
  };
}

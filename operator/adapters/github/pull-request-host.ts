import { type PullRequestHost, PullRequestHostFailed } from "../../ports/webhooks/pull-request-host.ts";
import { answeredStatus, type HostRequest } from "../host-api/host-api.ts";
import { repositoryCalls, userOf } from "../host-api/repository-calls.ts";
import { githubDeployments } from "./deployments.ts";

/** PullRequestHost port over GitHub's API, https://docs.github.com/en/rest. */
export function githubPullRequestHost(request: HostRequest): PullRequestHost {
  const self = (signal: AbortSignal) => selfOf(request, signal);
  return { ...repositoryCalls(request, { pageSize: 100, self }), ...githubDeployments(request) };
}

/**
 * Path beside REST: on an enterprise server REST is at /api/v3 and GraphQL at /api/graphql; on github.com both are at
 * the root.
 */
const GRAPHQL = "POST /../graphql";

/** An app's token may not ask for its user: "Resource not accessible by integration". GraphQL knows the app's bot. */
async function selfOf(request: HostRequest, signal: AbortSignal): Promise<number> {
  try {
    return await userOf(request, signal);
  } catch (error) {
    if (answeredStatus(error) !== 403) throw error;
    const query = "{ viewer { databaseId } }";
    const { data } = await request<{ data?: { viewer: { databaseId: number } } }>(GRAPHQL, { query }, signal);
    if (data === undefined) throw new PullRequestHostFailed("GitHub does not say whom the token belongs to");
    return data.viewer.databaseId;
  }
}

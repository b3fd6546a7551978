import type { HostRequest, HostTechnology } from "../../ports/host-technology.ts";
import { PullRequestHostFailed } from "../../ports/webhooks/pull-request-host.ts";
import { answeredStatus } from "../host-api/host-api.ts";
import { type PullRequestApi, pullRequestCalls } from "../host-api/pull-request-calls.ts";
import { partsOf, repositoryCalls, userOf } from "../host-api/repository-calls.ts";
import { isOfFork, pullRequestEvent, testMergeOf } from "../webhook-format/pull-request.ts";
import { githubDeployments } from "./deployments.ts";
import { redeliverMissed } from "./missed-webhooks.ts";
import { githubRepositoryHooks } from "./repository-hooks.ts";
import { githubWebhookFormat } from "./webhook-format.ts";

/** GitHub and its enterprise servers, https://docs.github.com/en/rest. */
export const github: HostTechnology = {
  format: githubWebhookFormat,
  // https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#pause-between-mutative-requests
  spacesWrites: true,
  reporter: ({ request }) => ({
    ...repositoryCalls(request, { pageSize: 100, self: (signal) => selfOf(request, signal) }),
    ...githubDeployments(request),
  }),
  reader: (api, clock) => ({
    ...pullRequestCalls(api.request, PULL_REQUESTS, clock),
    redeliver: redeliverMissed(api),
  }),
  hooks: ({ request }) => githubRepositoryHooks(request),
};

/** https://docs.github.com/en/rest/pulls/pulls */
const PULL_REQUESTS: PullRequestApi = {
  path: "/repos/{owner}/{repo}/pulls",
  of: partsOf,
  open: { state: "open", sort: "updated", direction: "desc", per_page: 100 },
  read(pull, now) {
    const payload = { pull_request: pull };
    const facts = { action: "other", isFork: isOfFork(payload), mergeCommit: testMergeOf(payload) } as const;
    return pullRequestEvent(payload, facts, now);
  },
};

/** REST is at /api/v3 of an enterprise server, GraphQL at /api/graphql; on github.com both are at the root. */
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

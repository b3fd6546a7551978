import type { HostRequest, HostTechnology, RequestValues } from "../../ports/host-technology.ts";
import {
  type HostedRepository,
  type PullRequestHost,
  PullRequestHostFailed,
} from "../../ports/webhooks/pull-request-host.ts";
import { repositoryHooks } from "../host-api/hooks.ts";
import { answeredStatus, unlessAbsent } from "../host-api/host-api.ts";
import { type PullRequestApi, pullRequestCalls } from "../host-api/pull-request-calls.ts";
import { partsOf, repositoryCalls, userOf } from "../host-api/repository-calls.ts";
import { isOfFork, pullRequestEvent, testMergeOf } from "../webhook-format/pull-request.ts";
import { redeliverMissed } from "./missed-webhooks.ts";
import { GITHUB_HOOKS } from "./repository-hooks.ts";
import { githubWebhookFormat } from "./webhook-format.ts";

/** GitHub and its enterprise servers, https://docs.github.com/en/rest. */
export const github: HostTechnology = {
  format: githubWebhookFormat,
  // https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#pause-between-mutative-requests
  spacesWrites: true,
  reporter: ({ request }) => ({
    ...repositoryCalls(request, { paging: (page) => ({ page, per_page: 100 }), self: selfOf }),
    ...githubDeployments(request),
  }),
  reader: (api, clock) => ({
    ...pullRequestCalls(api.request, PULL_REQUESTS, clock),
    redeliver: redeliverMissed(api),
  }),
  hooks: ({ request }) => repositoryHooks(request, GITHUB_HOOKS),
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

/** Distinguishes our deployments from other programs' in an environment of the same name. */
const TASK = "deploy:ephemeral-environment";
const STATES = { pending: "in_progress", success: "success", failure: "failure" } as const;
const DEPLOYMENTS = "/repos/{owner}/{repo}/deployments";
const ONE = `${DEPLOYMENTS}/{id}`;

interface Deployment {
  readonly id: number;
  readonly sha: string;
}

/**
 * Deployments of GitHub, https://docs.github.com/en/rest/deployments/deployments: one at a time, of the head commit,
 * because GitHub does not end earlier ones of a transient environment.
 */
function githubDeployments(request: HostRequest): Pick<PullRequestHost, "deploy" | "retire"> {
  const list = (repository: HostedRepository, environment: string, signal: AbortSignal) => {
    const values = { ...partsOf(repository), environment, task: TASK, per_page: 100 };
    return request<readonly Deployment[]>(`GET ${DEPLOYMENTS}`, values, signal);
  };
  const create = (repository: HostedRepository, environment: string, commit: string, signal: AbortSignal) => {
    const kind = { transient_environment: true, production_environment: false };
    // Neither merges the base branch nor waits for other checks.
    const asIs = { auto_merge: false, required_contexts: [] };
    const values = { ...partsOf(repository), ref: commit, task: TASK, environment, ...kind, ...asIs };
    return request<Deployment>(`POST ${DEPLOYMENTS}`, values, signal);
  };
  const end = async (repository: HostedRepository, { id }: Deployment, signal: AbortSignal) => {
    const one = { ...partsOf(repository), id };
    // GitHub deletes only inactive ones.
    await unlessAbsent(request(`POST ${ONE}/statuses`, { ...one, state: "inactive" }, signal));
    await unlessAbsent(request(`DELETE ${ONE}`, one, signal));
  };
  return {
    async deploy(repository, { environment, commit, state, description, url }, signal) {
      const known = await list(repository, environment, signal);
      const own = known.find(({ sha }) => sha === commit);
      const { id } = own ?? (await create(repository, environment, commit, signal));
      const status = { state: STATES[state], description, auto_inactive: false, environment_url: url };
      await request(`POST ${ONE}/statuses`, { ...partsOf(repository), id, ...status }, signal);
      for (const other of known) if (other.sha !== commit) await end(repository, other, signal);
    },
    async retire(repository, environment, signal) {
      const known = await list(repository, environment, signal);
      for (const deployment of known) await end(repository, deployment, signal);
      if (known.length > 0) await removeEnvironment(request, { ...partsOf(repository), environment }, signal);
    },
  };
}

/** Needs the right to administer the repository: without it the empty environment stays. */
async function removeEnvironment(request: HostRequest, values: RequestValues, signal: AbortSignal): Promise<void> {
  try {
    await unlessAbsent(request("DELETE /repos/{owner}/{repo}/environments/{environment}", values, signal));
  } catch (error) {
    if (answeredStatus(error) !== 403) throw error;
  }
}

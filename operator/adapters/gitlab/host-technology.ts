import type { HostApi, HostTechnology } from "../../ports/host-technology.ts";
import { type PullRequestHost, PullRequestHostFailed } from "../../ports/webhooks/pull-request-host.ts";
import { repositoryHooks } from "../host-api/hooks.ts";
import { answeredStatus } from "../host-api/host-api.ts";
import { type PullRequestApi, pullRequestCalls } from "../host-api/pull-request-calls.ts";
import { commentCalls, userOf } from "../host-api/repository-calls.ts";
import { listedMergeRequest } from "./merge-request.ts";
import { GITLAB_HOOKS } from "./repository-hooks.ts";
import { gitlabWebhookFormat } from "./webhook-format.ts";

const STATES = { pending: "running", success: "success", failure: "failed" } as const;

/** GitLab, https://docs.gitlab.com/api/rest/. The log of its hooks is not used. */
export const gitlab: HostTechnology = {
  format: gitlabWebhookFormat,
  spacesWrites: false,
  reporter,
  reader: ({ request }, clock) => pullRequestCalls(request, MERGE_REQUESTS, clock),
  hooks: ({ request }) => repositoryHooks(request, GITLAB_HOOKS),
};

/** https://docs.gitlab.com/api/merge_requests/ */
const MERGE_REQUESTS: PullRequestApi = {
  path: "/projects/{project}/merge_requests",
  of: ({ fullName }) => ({ project: fullName }),
  open: { state: "opened", order_by: "updated_at", sort: "desc", per_page: 100 },
  read: listedMergeRequest,
};

/**
 * Reports by https://docs.gitlab.com/api/commits/#set-commit-pipeline-status and
 * https://docs.gitlab.com/api/notes/#merge-requests. GitLab's deployments are those of its pipelines, so none are made.
 */
function reporter({ request }: HostApi): PullRequestHost {
  const notes = `${MERGE_REQUESTS.path}/{number}/notes`;
  return {
    // GitLab's status is a state machine that refuses a transition to the same state.
    async report(repository, { commit: sha, context: name, state: reported, description, url }, signal) {
      const state = STATES[reported];
      const values = { ...MERGE_REQUESTS.of(repository), sha, state, name, description, target_url: url };
      await request("POST /projects/{project}/statuses/{sha}", values, signal).catch((error: unknown) => {
        if (!isThere(error, state)) throw error;
      });
    },
    comment: commentCalls(request, {
      list: notes,
      edit: `PUT ${notes}/{id}`,
      of: MERGE_REQUESTS.of,
      paging: (page) => ({ page, per_page: 100, sort: "asc", order_by: "created_at" }),
      self: userOf,
    }),
    deploy: async () => undefined,
    retire: async () => undefined,
  };
}

/** True for "Cannot transition status via :run from :running". */
function isThere(error: unknown, state: string): boolean {
  if (!(error instanceof PullRequestHostFailed) || answeredStatus(error) !== 400) return false;
  return error.message.includes("Cannot transition status") && error.message.includes(`from :${state}`);
}

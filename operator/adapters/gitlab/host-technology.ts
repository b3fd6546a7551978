import type { HostApi, HostRequest, HostTechnology } from "../../ports/host-technology.ts";
import {
  type CommitReport,
  type HostedRepository,
  type PullRequestHost,
  PullRequestHostFailed,
} from "../../ports/webhooks/pull-request-host.ts";
import { answeredStatus } from "../host-api/host-api.ts";
import { type PullRequestApi, pullRequestCalls } from "../host-api/pull-request-calls.ts";
import { putComment } from "../host-api/repository-calls.ts";
import { listedMergeRequest } from "./merge-request.ts";
import { gitlabRepositoryHooks } from "./repository-hooks.ts";
import { gitlabWebhookFormat } from "./webhook-format.ts";

const STATES = { pending: "running", success: "success", failure: "failed" } as const;
const PAGE_SIZE = 100;

interface Note {
  readonly id: number;
  readonly body: string;
  readonly author?: { readonly id: number } | null;
}

/** GitLab, https://docs.gitlab.com/api/rest/. The log of its hooks is not used. */
export const gitlab: HostTechnology = {
  format: gitlabWebhookFormat,
  spacesWrites: false,
  reporter,
  reader: ({ request }, clock) => ({
    ...pullRequestCalls(request, MERGE_REQUESTS, clock),
    redeliver: async () => undefined,
  }),
  hooks: ({ request }) => gitlabRepositoryHooks(request),
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
  let self: number | undefined;
  return {
    report: (repository, report, signal) => setStatus(request, { repository, report, signal }),
    comment(repository, { number, ...comment }, signal) {
      const of = { project: repository.fullName, number };
      const list = "/projects/{project}/merge_requests/{number}/notes";
      return putComment(comment, {
        self: async () => {
          self ??= (await request<{ id: number }>("GET /user", {}, signal)).id;
          return self;
        },
        async page(page) {
          const paging = { page, per_page: PAGE_SIZE, sort: "asc", order_by: "created_at" };
          const found = await request<readonly Note[]>(`GET ${list}`, { ...of, ...paging }, signal);
          if (found.length === 0) return undefined;
          return found.map(({ id, body, author }) => ({ id, text: body, author: author?.id }));
        },
        create: async (body) => (await request<{ id: number }>(`POST ${list}`, { ...of, body }, signal)).id,
        edit: (id, body) => request(`PUT ${list}/{id}`, { ...of, id, body }, signal),
      });
    },
    deploy: async () => undefined,
    retire: async () => undefined,
  };
}

interface Setting {
  readonly repository: HostedRepository;
  readonly report: CommitReport;
  readonly signal: AbortSignal;
}

/** GitLab's status is a state machine that refuses a transition to the same state. */
async function setStatus(request: HostRequest, { repository, report, signal }: Setting): Promise<void> {
  const { commit, context, description, url } = report;
  const state = STATES[report.state];
  const target = url === undefined ? {} : { target_url: url };
  const values = { project: repository.fullName, sha: commit, state, name: context, description, ...target };
  try {
    await request("POST /projects/{project}/statuses/{sha}", values, signal);
  } catch (error) {
    if (!isThere(error, state)) throw error;
  }
}

/** True for "Cannot transition status via :run from :running". */
function isThere(error: unknown, state: string): boolean {
  if (!(error instanceof PullRequestHostFailed) || answeredStatus(error) !== 400) return false;
  return error.message.includes("Cannot transition status") && error.message.includes(`from :${state}`);
}

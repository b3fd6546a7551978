import { PullRequestState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { Clock } from "../../ports/clock.ts";
import type { PullRequestReader } from "../../ports/webhooks/pull-request-reader.ts";
import type { ReadEvent } from "../../ports/webhooks/webhook-format.ts";
import type { HostApi } from "../host-api/host-api.ts";
import { pullRequestCalls } from "../host-api/pull-request-calls.ts";
import { optional } from "../webhook-format/event.ts";
import { at, integer, text, timestamp } from "../webhook-format/payload.ts";
import { labelNames, pullRequest } from "../webhook-format/pull-request.ts";
import { STATES } from "./merge-request.ts";

/**
 * PullRequestReader port over GitLab's API, https://docs.gitlab.com/api/merge_requests/. The log of its hooks is not
 * used.
 */
export function gitlabPullRequestReader({ request }: HostApi, clock: Pick<Clock, "now">): PullRequestReader {
  return {
    ...pullRequestCalls(
      request,
      {
        path: "/projects/{project}/merge_requests",
        of: ({ fullName }) => ({ project: fullName }),
        open: { state: "opened", order_by: "updated_at", sort: "desc", per_page: 100 },
        read: mergeRequest,
      },
      clock,
    ),
    redeliver: async () => undefined,
  };
}

const login = optional(PullRequestState.properties.login);

/** Unlike the webhook, the API gives labels as names, and the head as `sha`. */
function mergeRequest(request: unknown, now: Date): ReadEvent {
  const source = integer(at(request, "source_project_id"));
  const labels = at(request, "labels");
  return pullRequest({
    number: integer(at(request, "iid")),
    action: "other",
    state: STATES.get(text(at(request, "state"))),
    merged: at(request, "state") === "merged",
    draft: (at(request, "draft") ?? at(request, "work_in_progress")) === true,
    labels: labelNames(Array.isArray(labels) ? labels.map((title: unknown) => ({ title })) : labels, "title"),
    headRef: at(request, "source_branch"),
    headCommit: at(request, "sha"),
    isFork: source === undefined || source !== at(request, "target_project_id"),
    baseRef: at(request, "target_branch"),
    updatedAt: timestamp(at(request, "updated_at"), now),
    login: login(at(request, "author", "username")),
  });
}

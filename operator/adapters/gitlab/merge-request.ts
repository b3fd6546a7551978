import { type PullRequestAction, PullRequestState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { ReadEvent } from "../../ports/webhooks/webhook-format.ts";
import { ignored, optional } from "../webhook-format/event.ts";
import { at, integer, text, timestamp } from "../webhook-format/payload.ts";
import { labelNames, pullRequest } from "../webhook-format/pull-request.ts";

/** Others (approvals) do not affect the rules. */
const ACTIONS: ReadonlyMap<string, PullRequestAction> = new Map([
  ["open", "opened"],
  ["reopen", "reopened"],
  ["update", "updated"],
  ["close", "closed"],
  ["merge", "closed"],
] as const);

/** `locked`: while it is merged. */
const STATES: ReadonlyMap<string, PullRequestState["state"]> = new Map([
  ["opened", "open"],
  ["locked", "open"],
  ["closed", "closed"],
  ["merged", "closed"],
] as const);

const login = optional(PullRequestState.properties.login);

/**
 * A merge request, https://docs.gitlab.com/user/project/integrations/webhook_events/#merge-request-events. Only the
 * whole object is read: `changes` may be empty and `oldrev` missing despite a change.
 */
export function mergeRequestEvent(payload: unknown, now: Date): ReadEvent {
  if (at(payload, "object_kind") !== "merge_request") return ignored("The payload is not a merge request");
  const request = at(payload, "object_attributes");
  return pullRequest({
    ...commonFields(request, now),
    action: ACTIONS.get(text(at(request, "action"))) ?? "other",
    labels: labelNames(at(request, "labels") ?? at(payload, "labels"), "title"),
    headCommit: at(request, "last_commit", "id"),
    login: authorOf(payload),
  });
}

/** GitLab names the event's user, but only the author's id. */
function authorOf(payload: unknown): string | undefined {
  const author = integer(at(payload, "object_attributes", "author_id"));
  const isAuthor = author !== undefined && author === at(payload, "user", "id");
  return isAuthor ? login(at(payload, "user", "username")) : undefined;
}

/** The API words a merge request in another way than the webhook: labels are names, and the head is `sha`. */
export function listedMergeRequest(request: unknown, now: Date): ReadEvent {
  const labels = at(request, "labels");
  return pullRequest({
    ...commonFields(request, now),
    action: "other",
    labels: labelNames(Array.isArray(labels) ? labels.map((title: unknown) => ({ title })) : labels, "title"),
    headCommit: at(request, "sha"),
    login: login(at(request, "author", "username")),
  });
}

/** The fields that webhooks and the API word alike. */
function commonFields(request: unknown, now: Date) {
  const source = integer(at(request, "source_project_id"));
  return {
    number: integer(at(request, "iid")),
    state: STATES.get(text(at(request, "state"))),
    merged: at(request, "state") === "merged",
    draft: (at(request, "draft") ?? at(request, "work_in_progress")) === true,
    headRef: at(request, "source_branch"),
    isFork: source === undefined || source !== at(request, "target_project_id"),
    baseRef: at(request, "target_branch"),
    updatedAt: timestamp(at(request, "updated_at"), now),
  };
}

import { PipelineState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { ReadEvent } from "../../ports/webhooks/webhook-format.ts";
import { checked, ignored, optional } from "./event.ts";
import { at, integer, text, timestamp } from "./payload.ts";

type Status = PipelineState["status"];

/**
 * Statuses of GitLab, https://docs.gitlab.com/api/pipelines/, and of the contract. `skipped` built nothing; `manual`
 * may wait for a person for ever.
 */
const STATUSES: ReadonlyMap<string, Status> = new Map([
  ["created", "running"],
  ["waiting_for_resource", "running"],
  ["preparing", "running"],
  ["waiting_for_callback", "running"],
  ["pending", "running"],
  ["scheduled", "running"],
  ["running", "running"],
  ["canceling", "running"],
  ["success", "success"],
  ["failed", "failed"],
  ["canceled", "canceled"],
] as const);

/**
 * Sources of GitLab, https://docs.gitlab.com/ci/jobs/job_rules/#ci_pipeline_source-predefined-variable. Others keep
 * their names: `external` comes from commit statuses, ours too; `parent_pipeline` reports its child's work.
 */
const EVENTS: ReadonlyMap<unknown, string> = new Map([
  ["merge_request_event", "pull_request"],
  ["external_pull_request_event", "pull_request"],
  ["web", "workflow_dispatch"],
  ["api", "workflow_dispatch"],
  ["trigger", "repository_dispatch"],
  ["pipeline", "repository_dispatch"],
]);

const name = optional(PipelineState.properties.name);
const branch = optional(PipelineState.properties.branch);
const url = optional(PipelineState.properties.url);

/** Pipeline body of the contract and GitLab. The pipeline of a fork's merge request is ignored. */
export function pipelineEvent(payload: unknown, now: Date): ReadEvent {
  const pipeline = at(payload, "object_attributes");
  if (at(payload, "object_kind") !== "pipeline") return ignored("The payload is not a pipeline");
  const request = at(payload, "merge_request") ?? undefined;
  if (request !== undefined && at(request, "source_project_id") !== at(request, "target_project_id")) {
    return ignored("The pipeline is of a fork's merge request");
  }
  const status = STATUSES.get(text(at(pipeline, "status")));
  if (status === undefined) return ignored("The pipeline's status says nothing of its commit's build");
  return checked({
    type: "pipeline",
    pipeline: {
      project: at(payload, "project", "path_with_namespace"),
      id: integer(at(pipeline, "id")),
      name: name(at(pipeline, "name")),
      event: runEvent(at(pipeline, "source"), EVENTS),
      commit: at(pipeline, "sha") ?? at(payload, "commit", "id"),
      branch: at(pipeline, "tag") === true ? undefined : branch(refOf(pipeline, request)),
      ...mergeRequestOf(pipeline, request, now),
      status,
      url: url(at(pipeline, "url")),
      at: momentOf(pipeline, status, now),
    },
  });
}

const MERGE_REQUEST_REF = "refs/merge-requests/";

/**
 * Some versions give a merge request's source branch, others its ref, as `refs/merge-requests/7/merge`,
 * https://gitlab.com/gitlab-org/gitlab/-/issues/29209.
 */
function refOf(pipeline: unknown, request: unknown): unknown {
  const ref = at(pipeline, "ref");
  return text(ref).startsWith(MERGE_REQUEST_REF) ? at(request, "source_branch") : ref;
}

function mergeRequestOf(pipeline: unknown, request: unknown, now: Date) {
  const number = integer(at(request, "iid"));
  if (number === undefined || number < 1) return {};
  return { pullRequest: number, createdAt: timestamp(at(pipeline, "created_at"), now) };
}

/** Start of the status: GitLab reports only creation and end. */
function momentOf(pipeline: unknown, status: Status, now: Date): string {
  const ended = status === "running" ? undefined : timestamp(at(pipeline, "finished_at"), now);
  return ended ?? now.toISOString();
}

const event = optional(PipelineState.properties.event);

/** A word that no host has: a Repository can't name it, so such a run counts for none. */
const UNKNOWN = "unknown";

/**
 * The event that a pipeline or a workflow runs for, in GitHub's words where it has one; `undefined` where the sender names
 * none.
 *
 * @param said the host's word
 * @param words GitHub's word for each of the host's that differs
 */
export function runEvent(said: unknown, words: ReadonlyMap<unknown, string>): string | undefined {
  if (said === undefined || said === null) return undefined;
  return words.get(said) ?? event(said) ?? UNKNOWN;
}

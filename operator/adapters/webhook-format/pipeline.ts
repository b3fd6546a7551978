import { PipelineState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { ReadEvent } from "../../ports/webhooks/webhook-format.ts";
import { checked, ignored, optional } from "./event.ts";
import { at, integer, isSameRepository, text, timestamp } from "./payload.ts";

type Status = PipelineState["status"];

const workflow = optional(PipelineState.properties.workflow);
const name = optional(PipelineState.properties.name);
const event = optional(PipelineState.properties.event);
const branch = optional(PipelineState.properties.branch);
const url = optional(PipelineState.properties.url);

/**
 * Statuses of GitLab, https://docs.gitlab.com/api/pipelines/, and of the contract. `skipped` built nothing; `manual`
 * may wait for a person for ever.
 */
const PIPELINE_STATUSES: ReadonlyMap<string, Status> = new Map([
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
const PIPELINE_SOURCES: ReadonlyMap<unknown, string> = new Map([
  ["merge_request_event", "pull_request"],
  ["external_pull_request_event", "pull_request"],
  ["web", "workflow_dispatch"],
  ["api", "workflow_dispatch"],
  ["trigger", "repository_dispatch"],
  ["pipeline", "repository_dispatch"],
]);

/** Pipeline body of the contract and GitLab. The pipeline of a fork's merge request is ignored. */
export function pipelineEvent(payload: unknown, now: Date): ReadEvent {
  const pipeline = at(payload, "object_attributes");
  if (at(payload, "object_kind") !== "pipeline") return ignored("The payload is not a pipeline");
  const request = at(payload, "merge_request") ?? undefined;
  if (request !== undefined && at(request, "source_project_id") !== at(request, "target_project_id")) {
    return ignored("The pipeline is of a fork's merge request");
  }
  const status = PIPELINE_STATUSES.get(text(at(pipeline, "status")));
  if (status === undefined) return ignored("The pipeline's status says nothing of its commit's build");
  return checked({
    type: "pipeline",
    pipeline: {
      project: at(payload, "project", "path_with_namespace"),
      id: integer(at(pipeline, "id")),
      name: name(at(pipeline, "name")),
      event: runEvent(at(pipeline, "source"), PIPELINE_SOURCES),
      commit: at(pipeline, "sha") ?? at(payload, "commit", "id"),
      branch: at(pipeline, "tag") === true ? undefined : branch(refOf(pipeline, request)),
      ...mergeRequestOf(pipeline, request, now),
      status,
      url: url(at(pipeline, "url")),
      at: momentOfPipeline(pipeline, status, now),
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
function momentOfPipeline(pipeline: unknown, status: Status, now: Date): string {
  const ended = status === "running" ? undefined : timestamp(at(pipeline, "finished_at"), now);
  return ended ?? now.toISOString();
}

/** Conclusions of GitHub about a build. Others, such as `skipped`, say nothing. */
const WORKFLOW_CONCLUSIONS: ReadonlyMap<string, Status> = new Map([
  ["success", "success"],
  ["failure", "failed"],
  ["timed_out", "failed"],
  ["startup_failure", "failed"],
  ["cancelled", "canceled"],
] as const);
const UNFINISHED = ["requested", "in_progress"];

/** Words of older Gitea versions for the change instead of the event. */
const WORKFLOW_EVENTS: ReadonlyMap<unknown, string> = new Map(
  ["sync", "assign", "label", "milestone", "review_request"].map((what) => [`pull_request_${what}`, "pull_request"]),
);

/**
 * `workflow_run` of GitHub and Gitea: a pipeline of its head commit.
 *
 * A fork's is ignored: its branch may have one of our names, its commit may be ours, and its workflow is its own. Gitea
 * names no head repository, and no branch for runs of pull requests.
 */
export function workflowRunEvent(payload: unknown, now: Date): ReadEvent {
  const run = at(payload, "workflow_run");
  const repository = at(payload, "repository");
  const head = at(run, "head_repository");
  if (head !== undefined && !isSameRepository(head, repository)) return ignored("The workflow run is of a fork");
  const status = statusOfRun(text(at(payload, "action")), text(at(run, "conclusion")));
  if (status === undefined) return ignored("The workflow run says nothing of its commit's build");
  const named = name(at(run, "name") ?? at(payload, "workflow", "name"));
  return checked({
    type: "pipeline",
    pipeline: {
      project: at(repository, "full_name"),
      id: integer(at(run, "id")),
      workflow: workflow(fileOf(at(run, "path"))) ?? named,
      name: named,
      event: runEvent(at(run, "event"), WORKFLOW_EVENTS),
      attempt: countOf(at(run, "run_attempt")),
      commit: at(run, "head_sha"),
      branch: branch(at(run, "head_branch")),
      status,
      url: url(at(run, "html_url")),
      at: momentOfRun(run, status, now),
    },
  });
}

function countOf(value: unknown): number | undefined {
  const count = integer(value);
  return count === undefined || count < 0 ? undefined : count;
}

/** Path of a workflow without the ref that some hosts append, as in `build.yml@refs/heads/main`. */
const fileOf = (path: unknown): string => text(path).replace(/^(.*?[.]ya?ml)@.*$/s, "$1");

function statusOfRun(action: string, conclusion: string): Status | undefined {
  if (conclusion !== "") return WORKFLOW_CONCLUSIONS.get(conclusion);
  return UNFINISHED.includes(action) ? "running" : undefined;
}

/** Start of the status. Gitea has no `updated_at`. */
function momentOfRun(run: unknown, status: Status, now: Date): string {
  const own = at(run, status === "running" ? "started_at" : "completed_at");
  return timestamp(at(run, "updated_at") ?? own, now) ?? now.toISOString();
}

/** A word that no host has: a Repository can't name it, so such a run counts for none. */
const UNKNOWN = "unknown";

/**
 * The event that a pipeline or a workflow runs for, in GitHub's words where it has one; `undefined` where the sender
 * names none.
 *
 * @param word the host's
 * @param words GitHub's word for each of the host's that differs
 */
function runEvent(word: unknown, words: ReadonlyMap<unknown, string>): string | undefined {
  if (word === undefined || word === null) return undefined;
  return words.get(word) ?? event(word) ?? UNKNOWN;
}

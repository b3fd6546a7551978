import { PipelineState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { ReadEvent } from "../../ports/webhooks/webhook-format.ts";
import { checked, ignored, optional } from "./event.ts";
import { at, integer, isSameRepository, text, timestamp } from "./payload.ts";
import { runEvent } from "./pipeline.ts";

type Status = PipelineState["status"];

/** Conclusions of GitHub about a build. Others, such as `skipped`, say nothing. */
const STATUS_OF_CONCLUSION: Readonly<Partial<Record<string, Status>>> = {
  success: "success",
  failure: "failed",
  timed_out: "failed",
  startup_failure: "failed",
  cancelled: "canceled",
};
const UNFINISHED = ["requested", "in_progress"];

/** Words of older Gitea versions for the change instead of the event. */
const EVENTS: ReadonlyMap<unknown, string> = new Map(
  ["sync", "assign", "label", "milestone", "review_request"].map((what) => [`pull_request_${what}`, "pull_request"]),
);

const branch = optional(PipelineState.properties.branch);
const workflow = optional(PipelineState.properties.workflow);
const name = optional(PipelineState.properties.name);
const url = optional(PipelineState.properties.url);

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
  const status = statusOf(text(at(payload, "action")), text(at(run, "conclusion")));
  if (status === undefined) return ignored("The workflow run says nothing of its commit's build");
  const named = name(at(run, "name") ?? at(payload, "workflow", "name"));
  return checked({
    type: "pipeline",
    pipeline: {
      project: at(repository, "full_name"),
      id: integer(at(run, "id")),
      workflow: workflow(fileOf(at(run, "path"))) ?? named,
      name: named,
      event: runEvent(at(run, "event"), EVENTS),
      attempt: attempt(at(run, "run_attempt")),
      commit: at(run, "head_sha"),
      branch: branch(at(run, "head_branch")),
      status,
      url: url(at(run, "html_url")),
      at: momentOf(run, status, now),
    },
  });
}

const attempt = (value: unknown): number | undefined => {
  const count = integer(value);
  return count === undefined || count < 0 ? undefined : count;
};

/** Path of a workflow without the ref that some hosts append, as in `build.yml@refs/heads/main`. */
const fileOf = (path: unknown): string => text(path).replace(/^(.*?[.]ya?ml)@.*$/s, "$1");

function statusOf(action: string, conclusion: string): Status | undefined {
  if (conclusion !== "")
    return Object.hasOwn(STATUS_OF_CONCLUSION, conclusion) ? STATUS_OF_CONCLUSION[conclusion] : undefined;
  return UNFINISHED.includes(action) ? "running" : undefined;
}

/** Start of the status. Gitea has no `updated_at`. */
function momentOf(run: unknown, status: Status, now: Date): string {
  const own = at(run, status === "running" ? "started_at" : "completed_at");
  return timestamp(at(run, "updated_at") ?? own, now) ?? now.toISOString();
}

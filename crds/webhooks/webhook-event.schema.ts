/** Vocabulary of the events of all hosts: adapters extract them from payloads, and deliveries store them. */
import { type Static, Type } from "typebox";
import { PIPELINE_STATUSES } from "../environment/ephemeral-environment.schema.ts";
import { literals, text, timestamp } from "../schema.ts";

/** `other`: the platform ignores it; `approval`: a maintainer approved a fork's commit. */
export const EVENT_TYPES = ["pull_request", "push", "pipeline", "merge_group", "approval", "ping", "other"] as const;

/**
 * GitHub's words. `edited`: the base branch was changed; `updated`: the host does not report reliably what changed
 * (commits, labels, draft); `other`: no effect on the rules.
 */
export const PULL_REQUEST_ACTIONS = [
  "opened",
  "reopened",
  "synchronize",
  "labeled",
  "unlabeled",
  "edited",
  "ready_for_review",
  "converted_to_draft",
  "updated",
  "closed",
  "other",
] as const;
export type PullRequestAction = (typeof PULL_REQUEST_ACTIONS)[number];

export const LABEL_MAX_LENGTH = 100;
/** Limit of a pull request's stored labels: the required ones first. */
export const MOST_LABELS = 20;

/** Longest path or name of a workflow, in characters. */
export const WORKFLOW_MAX_LENGTH = 300;

const commit = (description: string) =>
  text(64, description, { minLength: 40, pattern: "^[0-9a-f]{40}([0-9a-f]{24})?$" });
/** A branch as the host reports it; checked at a creation. */
const branch = (description: string) => text(255, description, { minLength: 1 });
const project = text(200, "Full name of the project on its host.", { minLength: 1 });

export const PullRequestState = Type.Object(
  {
    number: Type.Integer({ minimum: 1, description: "Number on the host." }),
    action: literals(PULL_REQUEST_ACTIONS, {
      description:
        "Action in GitHub's words. edited: the base branch was changed; updated: the host does not say what changed; other: nothing that the rules read.",
    }),
    state: literals(["open", "closed"], { description: "State after the event." }),
    merged: Type.Boolean({ description: "True when it was merged." }),
    draft: Type.Boolean({ description: "True for a draft." }),
    labels: Type.Array(Type.String({ minLength: 1, maxLength: LABEL_MAX_LENGTH }), {
      maxItems: MOST_LABELS,
      description: "Labels, the required ones first.",
    }),
    label: Type.Optional(text(LABEL_MAX_LENGTH, "The label that was added or removed.", { minLength: 1 })),
    headRef: branch("Head branch."),
    headCommit: commit("The newest commit of its head branch."),
    mergeCommit: Type.Optional(
      commit("The commit that merges it into its base, made by the host for a test, where it was reported."),
    ),
    isFork: Type.Boolean({ description: "True when its head is in another repository, or in a deleted one." }),
    baseRef: branch("The branch that it is merged into."),
    updatedAt: Type.Optional(timestamp("By the host's clock; orders events.")),
    login: Type.Optional(text(128, "The author's name on the host.")),
  },
  { description: "The whole state of a pull or merge request at the time of its event." },
);
export type PullRequestState = Static<typeof PullRequestState>;

export const PushState = Type.Object(
  {
    branch: branch("The branch that was pushed to."),
    commit: Type.Optional(commit("The new head; absent when deleted.")),
    deleted: Type.Boolean({ description: "True when the branch was deleted." }),
  },
  { description: "A push to a branch." },
);
export type PushState = Static<typeof PushState>;

export const PipelineState = Type.Object(
  {
    project,
    id: Type.Integer({ format: "int64", minimum: 1, description: "Id on the host; a higher id is newer." }),
    workflow: Type.Optional(
      text(
        WORKFLOW_MAX_LENGTH,
        "The workflow that it is a run of: its file, else its name. None: the project has only one.",
        {
          minLength: 1,
        },
      ),
    ),
    name: Type.Optional(text(WORKFLOW_MAX_LENGTH, "The name of its workflow, or of the pipeline.", { minLength: 1 })),
    event: Type.Optional(
      text(64, "The event that it runs for, in GitHub's words where it has one.", { pattern: "^[a-z][a-z0-9_]*$" }),
    ),
    attempt: Type.Optional(
      Type.Integer({ format: "int64", minimum: 0, description: "Number of its runs, where its host counts them." }),
    ),
    commit: commit("The commit that it builds."),
    branch: Type.Optional(branch("The branch that it builds.")),
    pullRequest: Type.Optional(
      Type.Integer({
        format: "int64",
        minimum: 1,
        description:
          "The pull request that it builds, where the host names it. Its commit may be a merge of that, which is on no branch.",
      }),
    ),
    createdAt: Type.Optional(timestamp("Creation of a pull request's pipeline.")),
    status: literals(PIPELINE_STATUSES, { description: "State after the event." }),
    url: Type.Optional(text(512, "Page on the host.", { pattern: "^https?://[^\\s]+$" })),
    at: timestamp("Time of this status."),
  },
  { description: "A pipeline that began or ended." },
);
export type PipelineState = Static<typeof PipelineState>;

export const MergeGroupState = Type.Object(
  {
    commit: commit("The commit that is tested."),
    branch: branch("The temporary branch of the group."),
    baseRef: branch("The branch that the group is merged into."),
  },
  { description: "A group of a merge queue whose checks were requested." },
);
export type MergeGroupState = Static<typeof MergeGroupState>;

export const ApprovalState = Type.Object(
  {
    number: Type.Integer({ minimum: 1, description: "Number of the pull request." }),
    commit: commit("The commit that was approved."),
    by: text(254, "The maintainer, for people."),
  },
  { description: "A maintainer's approval of a fork's commit." },
);
export type ApprovalState = Static<typeof ApprovalState>;

/** Exactly the field of its type is present; none for `ping` and `other`. */
export const WebhookEvent = Type.Object(
  {
    type: literals(EVENT_TYPES, {
      description: "Type of the event; the field of the type has the rest. other: nothing is done about it.",
    }),
    pullRequest: Type.Optional(PullRequestState),
    push: Type.Optional(PushState),
    pipeline: Type.Optional(PipelineState),
    mergeGroup: Type.Optional(MergeGroupState),
    approval: Type.Optional(ApprovalState),
  },
  { description: "Reported event, in the same words for all hosts." },
);
export type WebhookEvent = Static<typeof WebhookEvent>;

/** One vocabulary for the events of all hosts: what an adapter extracts of a payload, and what a delivery stores. */
import { type Static, Type } from "typebox";
import { PIPELINE_STATUSES } from "../environment/ephemeral-environment.schema.ts";
import { literals, Timestamp } from "../schema.ts";

/** `other`: whatever the platform does nothing about; `approval`: a maintainer of ours approved a fork's commit. */
export const EVENT_TYPES = ["pull_request", "push", "pipeline", "merge_group", "approval", "ping", "other"] as const;

/**
 * GitHub's words. `edited`: the base branch was changed; `updated`: of a host that does not say reliably what changed
 * (commits, labels, draft); `other`: an action that changes nothing that the rules read.
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
/** How many labels of a pull request are stored: the required ones first. */
export const MOST_LABELS = 20;

const HostCommit = Type.String({ minLength: 40, maxLength: 64, pattern: "^[0-9a-f]{40}([0-9a-f]{24})?$" });
/** A branch as the host reports it. Whether an environment can have it is decided when one is made. */
const HostBranch = Type.String({ minLength: 1, maxLength: 255 });

/** The whole state of a pull or merge request at the time of its event. */
export const PullRequestState = Type.Object({
  number: Type.Integer({ minimum: 1 }),
  action: literals(PULL_REQUEST_ACTIONS),
  state: literals(["open", "closed"]),
  merged: Type.Boolean(),
  draft: Type.Boolean(),
  labels: Type.Array(Type.String({ minLength: 1, maxLength: LABEL_MAX_LENGTH }), { maxItems: MOST_LABELS }),
  label: Type.Optional(
    Type.String({ minLength: 1, maxLength: LABEL_MAX_LENGTH, description: "The label that was added or removed." }),
  ),
  headRef: HostBranch,
  headCommit: HostCommit,
  isFork: Type.Boolean({ description: "Whether its head is in another repository, or in one that is gone." }),
  baseRef: HostBranch,
  updatedAt: Type.Optional(Type.Unsafe<string>({ ...Timestamp, description: "By the host's clock; orders events." })),
  login: Type.Optional(Type.String({ maxLength: 128, description: "The author's name on the host." })),
});
export type PullRequestState = Static<typeof PullRequestState>;

export const PushState = Type.Object({
  branch: HostBranch,
  commit: Type.Optional(Type.Unsafe<string>({ ...HostCommit, description: "The new head; absent when deleted." })),
  deleted: Type.Boolean(),
});
export type PushState = Static<typeof PushState>;

export const PipelineState = Type.Object({
  project: Type.String({ minLength: 1, maxLength: 200 }),
  id: Type.Integer({ format: "int64", minimum: 1 }),
  commit: HostCommit,
  branch: Type.Optional(HostBranch),
  status: literals(PIPELINE_STATUSES),
  url: Type.Optional(Type.String({ maxLength: 512, pattern: "^https?://[^\\s]+$" })),
  at: Timestamp,
});
export type PipelineState = Static<typeof PipelineState>;

export const MergeGroupState = Type.Object({
  commit: HostCommit,
  branch: HostBranch,
  baseRef: HostBranch,
});
export type MergeGroupState = Static<typeof MergeGroupState>;

export const ApprovalState = Type.Object({
  number: Type.Integer({ minimum: 1 }),
  commit: HostCommit,
  by: Type.String({ maxLength: 254, description: "The maintainer, for people." }),
});
export type ApprovalState = Static<typeof ApprovalState>;

/** Exactly the field of its type is present; none for `ping` and `other`. */
export const WebhookEvent = Type.Object({
  type: literals(EVENT_TYPES),
  pullRequest: Type.Optional(PullRequestState),
  push: Type.Optional(PushState),
  pipeline: Type.Optional(PipelineState),
  mergeGroup: Type.Optional(MergeGroupState),
  approval: Type.Optional(ApprovalState),
});
export type WebhookEvent = Static<typeof WebhookEvent>;

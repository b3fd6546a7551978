/** Webhook rules of a Repository: events that create and delete environments, and recipients of messages. */
import { type Static, Type } from "typebox";
import { literals, rules, TTL_MAX_HOURS } from "../schema.ts";

export const CREATE_ACTIONS = ["opened", "reopened", "synchronize", "ready_for_review", "labeled"] as const;
export const DELETE_ACTIONS = ["closed", "merged"] as const;
/** `pipeline`: a pipeline of the component's commit has ended. */
export const NOTIFIED_EVENTS = ["created", "ready", "failed", "updated", "deleted", "pipeline"] as const;

/** A list of words, each once. */
const words = <const T extends readonly string[]>(values: T, options: object = {}) =>
  Type.Array(literals(values), { maxItems: values.length, "x-kubernetes-list-type": "set", ...options });

/** True for every valid RE2 expression; the API server refuses other texts. */
const IS_PATTERN = "''.matches(self) ? true : true";

export const PullRequestRules = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean({ default: false, description: "True when pull requests get environments." })),
    createOn: Type.Optional(
      words(CREATE_ACTIONS, { description: "The actions that may create one; all when left out." }),
    ),
    deleteOn: Type.Optional(
      words(DELETE_ACTIONS, { description: "closed: without a merge. The ends that delete it; both when left out." }),
    ),
    skipDraft: Type.Optional(Type.Boolean({ default: false, description: "Drafts get none." })),
    requiredLabels: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        maxItems: 20,
        "x-kubernetes-list-type": "set",
        description: "Pull requests that lack one of them get none.",
      }),
    ),
    branchPattern: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: "The head branches that get one: an RE2 expression for the whole name. All when left out.",
        ...rules({ rule: IS_PATTERN, message: "is not an RE2 expression" }),
      }),
    ),
    basePattern: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: "The base branches whose pull requests get one, as branchPattern.",
        ...rules({ rule: IS_PATTERN, message: "is not an RE2 expression" }),
      }),
    ),
    ttlHours: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: TTL_MAX_HOURS,
        description:
          "Hours from creation to deletion of their environments; that of the config set or the settings when left out.",
      }),
    ),
    configSet: Type.Optional(Type.String({ minLength: 1, maxLength: 50, description: "Name of a ConfigSet." })),
    forks: Type.Optional(
      literals(["deny", "approve"], {
        default: "deny",
        description: "Pull requests of forks: none, or those that a maintainer approves, commit by commit.",
      }),
    ),
  },
  {
    description: "Read by webhooks: which pull requests get environments.",
  },
);
export type PullRequestRules = Static<typeof PullRequestRules>;

/** Events whose runs can count, in GitHub's words. */
export const PIPELINE_EVENTS = [
  "push",
  "pull_request",
  "workflow_dispatch",
  "schedule",
  "repository_dispatch",
] as const;
/** Events by which a build of the commit was requested. */
export const DEFAULT_PIPELINE_EVENTS = ["push", "pull_request", "workflow_dispatch"] as const;

export const PipelineRules = Type.Object(
  {
    workflows: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
        minItems: 1,
        maxItems: 20,
        "x-kubernetes-list-type": "set",
        description:
          "The workflows whose runs count: the path, such as .github/workflows/build.yml, its file, or the name. Of GitLab, the pipeline's name. All when left out. All that run for a commit must succeed.",
      }),
    ),
    events: Type.Optional(
      words(PIPELINE_EVENTS, {
        minItems: 1,
        description:
          "The events whose runs count, in GitHub's words; push, pull_request and workflow_dispatch when left out. Of GitLab, pull_request is a pipeline of a merge request, workflow_dispatch one that was started on its page or over its API, repository_dispatch one of a trigger or of another project.",
      }),
    ),
    createOnSuccess: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          "A successful pipeline creates an environment if there is none; not that of a pull request where those get environments by pullRequest.enabled.",
      }),
    ),
    onCanceled: Type.Optional(
      literals(["own", "any", "ignore"], {
        default: "own",
        description:
          "Effect of a canceled pipeline: the environment it created, all of its project and branch, or none is deleted.",
      }),
    ),
  },
  {
    description:
      "Read by webhooks: which pipelines count, and their effects. With it, a new commit of a pull request waits for its pipeline.",
  },
);

export type PipelineRules = Static<typeof PipelineRules>;

export const Notifications = Type.Object(
  {
    chatChannel: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 80,
        description: "A channel of the settings; their default when left out. No other channel is ever written to.",
      }),
    ),
    // Not `on`, as in the REST interface: YAML 1.1 reads that as true.
    events: Type.Optional(words(NOTIFIED_EVENTS, { description: "All when left out." })),
  },
  { description: "Events, and the recipients of their messages." },
);

export const COMMENT_MODES = ["always", "on_failure", "never"] as const;

export const STATUSES_WITHOUT_ENVIRONMENT = ["none", "success"] as const;

export const Feedback = Type.Object(
  {
    comment: Type.Optional(
      literals(COMMENT_MODES, {
        default: "always",
        description: "One comment that is edited in place, with URLs and state.",
      }),
    ),
    status: Type.Optional(Type.Boolean({ default: true, description: "A status of the head commit." })),
    statusWithoutEnvironment: Type.Optional(
      literals(STATUSES_WITHOUT_ENVIRONMENT, {
        default: "none",
        description:
          "Result for a pull request whose rules want no environment: a draft, a missing label, a branch that no pattern matches, an action that creates none, a fork where those are denied. success: a status that names the rule, so that a branch which requires it is not blocked. Its author may then take a failed status away, with a label or a draft.",
      }),
    ),
    deployment: Type.Optional(
      Type.Boolean({ default: true, description: "GitHub: a deployment with an environment per pull request." }),
    ),
  },
  { description: "Reports to the host of a pull request; they need `token` of the host in the settings." },
);
export type Feedback = Static<typeof Feedback>;

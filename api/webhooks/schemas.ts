/** Schemas of webhooks: documented but not validated, because the signature covers the bytes. */
import { type Static, Type } from "typebox";
import { PIPELINE_STATUSES } from "../../crds/environment/ephemeral-environment.schema.ts";
import { closed, literals } from "../../crds/schema.ts";
import { arrivingBody, rawBody } from "../input/raw-body.ts";
import { Instant } from "../schemas/fields.ts";
import { WEBHOOK_EXAMPLES } from "./examples.ts";

const header = (description: string, example: string) =>
  Type.Optional(Type.String({ description, examples: [example] }));

export const RepohostHeaders = closed({
  "X-Repohost-Event": header(
    "Name of the event; hosts of other kinds send their own header (X-GitHub-Event, X-Gitea-Event, X-Gitlab-Event).",
    "pull_request",
  ),
  "X-Repohost-Delivery": header(
    "Id of the delivery; a repetition under the same id is answered as the first one was.",
    "72d3162e-cc78-11e3-81ab-4c9367dc0958",
  ),
  "X-Hub-Signature-256": header(
    "`sha256=` and the hex HMAC-SHA256 of the raw body, keyed with the shared secret.",
    "sha256=7d38cdd689735b008b3c702edd92eea23791c5f6f3f9dbd2b5e1a8c2c2a3a3f1",
  ),
});

export const PipelineHeaders = closed({
  "X-Pipeline-Token": header("The shared secret token.", "the-secret-token-of-at-least-32-bytes"),
});

const text = (description: string) => Type.Optional(Type.String({ description }));
/** Further fields of a host are ignored. */
const open = { additionalProperties: true };

const Ref = Type.Object({ ref: Type.String(), sha: Type.String() }, open);
export const RepohostBody = arrivingBody(
  Type.Object(
    {
      action: text("Action of a pull request."),
      number: Type.Optional(Type.Integer()),
      pull_request: Type.Optional(
        Type.Object(
          {
            id: Type.Optional(Type.Integer()),
            number: Type.Integer(),
            title: text("Title."),
            body: Type.Optional(Type.Union([Type.String(), Type.Null()])),
            state: literals(["open", "closed"]),
            head: Ref,
            base: Ref,
            user: Type.Optional(Type.Object({ login: Type.String(), email: text("Not read.") }, open)),
          },
          open,
        ),
      ),
      repository: Type.Optional(
        Type.Object({ name: text("Name."), full_name: Type.String(), clone_url: text("Not read.") }, open),
      ),
    },
    {
      ...open,
      title: "RepositoryHostEvent",
      description: "The event as its host sends it; fields that are not named here are ignored.",
      examples: [WEBHOOK_EXAMPLES.pullRequest],
    },
  ),
);

export const PipelineBody = arrivingBody(
  Type.Object(
    {
      object_kind: Type.String({ description: "pipeline; other kinds are ignored." }),
      object_attributes: Type.Object(
        {
          id: Type.Integer(),
          status: Type.String({ description: PIPELINE_STATUSES.join(", ") }),
          source: text(
            "Cause of the run, in GitLab's words: the Repository's spec.pipeline.events decide whether it counts.",
          ),
          url: text("Page for people."),
          created_at: text("Time of its begin."),
          finished_at: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        },
        open,
      ),
      project: Type.Object(
        {
          id: Type.Optional(Type.Integer()),
          name: text("Name."),
          path_with_namespace: Type.String(),
          web_url: text("Address."),
        },
        open,
      ),
      commit: Type.Optional(
        Type.Object({ id: Type.String(), title: text("First line."), message: text("All of it.") }, open),
      ),
      builds: Type.Optional(Type.Array(Type.Object({}, open))),
    },
    {
      ...open,
      title: "PipelineEvent",
      description: "The event as its host sends it; fields that are not named here are ignored.",
      examples: [WEBHOOK_EXAMPLES.pipeline],
    },
  ),
);

export const GenericBody = rawBody(
  Type.Unsafe({
    title: "GenericEvent",
    description: "Any JSON value. Of an object these are read: event, event_type, source, message.",
    examples: [WEBHOOK_EXAMPLES.generic],
  }),
);

export const ENVIRONMENT_EVENT_TYPES = ["created", "ready", "failed", "updated", "deleted"] as const;

export const EnvironmentEventBody = rawBody(
  Type.Object(
    {
      event_type: Type.Optional(literals(ENVIRONMENT_EVENT_TYPES)),
      environment_id: text("Id, as the sender knows it."),
      environment_name: text("Name."),
      status: text("Status."),
      user_email: text("Not read."),
      repository: text("A repository."),
      branch: text("A branch."),
      commit_sha: text("A commit."),
      urls: Type.Optional(
        Type.Object({ backend: text("Not read."), frontend: text("Not read."), argocd: text("Not read.") }, open),
      ),
      metadata: Type.Optional(
        Type.Object({ ttl_hours: Type.Optional(Type.Integer()), config_set: text("Not read.") }, open),
      ),
    },
    { ...open, title: "EnvironmentEvent", examples: [WEBHOOK_EXAMPLES.environment] },
  ),
);

export const RepohostReply = closed(
  {
    status: literals(["processed", "pong"]),
    message: Type.String({ description: "Outcome, or the reason without one." }),
    environment_created: Type.Optional(Type.Boolean()),
    environment_id: Type.Optional(Type.String({ description: "Empty when no environment was touched." })),
  },
  {
    title: "RepositoryHostReceipt",
    examples: [
      {
        status: "processed",
        message: "the environment is created",
        environment_created: true,
        environment_id: "0f3c2d4e-8f5a-4a39-9d0b-6a1f6c1f7f10",
      },
    ],
  },
);
export type RepohostReply = Static<typeof RepohostReply>;

export const PIPELINE_ACTIONS = ["environment_created", "environment_updated", "environment_deleted"] as const;

export const PipelineReply = closed(
  {
    status: literals(["processed"]),
    message: Type.String({ description: "Outcome, or the reason without one." }),
    actions_taken: Type.Array(literals(PIPELINE_ACTIONS)),
  },
  {
    title: "PipelineReceipt",
    examples: [
      {
        status: "processed",
        message: "the environment is updated",
        actions_taken: ["environment_updated"],
      },
    ],
  },
);
export type PipelineReply = Static<typeof PipelineReply>;

const received = { status: literals(["received"]), message: Type.String({ examples: ["Event received"] }) };

export const GenericReply = closed(
  { ...received, webhook_id: Type.String({ examples: ["5a0c2d4e-8f5a-4a39-9d0b-6a1f6c1f7f10"] }) },
  { title: "WebhookReceipt" },
);

export const EnvironmentEventReply = closed(
  {
    ...received,
    notifications_sent: Type.Array(Type.String({ examples: ["chat"] }), {
      description: "The channels that were notified; empty while none is configured for unverified events.",
    }),
  },
  { title: "EnvironmentEventReceipt" },
);

export const PipelineTest = closed(
  {
    status: literals(["ok"]),
    message: Type.String(),
    configured: Type.Boolean({ description: "True when a token is configured; never the token itself." }),
    endpoint: Type.String({ description: "Address for the host's events." }),
    required_headers: Type.Array(Type.String()),
    supported_statuses: Type.Array(literals(PIPELINE_STATUSES)),
    last_received_at: Type.Union([Instant, Type.Null()], {
      description: "Time of the last one that the caller may see; null: none is stored.",
    }),
  },
  {
    title: "PipelineWebhookTest",
    examples: [
      {
        status: "ok",
        message: "A token is configured: send pipeline events to the endpoint",
        configured: true,
        endpoint: "https://environments.example.com/api/webhooks/pipelinehost/pipeline",
        required_headers: ["X-Pipeline-Token", "Content-Type: application/json"],
        supported_statuses: [...PIPELINE_STATUSES],
        last_received_at: "2026-06-01T12:00:00.000Z",
      },
    ],
  },
);
export type PipelineTest = Static<typeof PipelineTest>;

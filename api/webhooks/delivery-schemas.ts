import { type Static, Type } from "typebox";
import { closed, literals } from "../../crds/schema.ts";
import { DELIVERY_PHASES, WEBHOOK_SOURCES } from "../../crds/webhooks/webhook-delivery.schema.ts";
import { EVENT_TYPES } from "../../crds/webhooks/webhook-event.schema.ts";
import { Instant, idPath, orNull, RepositoryId } from "../schemas/fields.ts";
import { PAGE, pageOf } from "../schemas/page.ts";
import { WEBHOOK_EXAMPLES } from "./examples.ts";

const ID = "3f0c2d4e8f5a4a399d0b6a1f6c1f7f103f0c2d4e";

export const DeliveryPath = idPath("The id under which it is stored.", ID);

export const DeliveryQuery = closed({
  ...PAGE,
  repository: Type.Optional(Type.Unsafe<string>({ ...RepositoryId, examples: ["shop-api"] })),
  status: Type.Optional(literals(DELIVERY_PHASES, { description: "Outcome." })),
  source: Type.Optional(literals(WEBHOOK_SOURCES, { description: "The endpoint that received it." })),
  event: Type.Optional(literals(EVENT_TYPES, { description: "Type, in the platform's words." })),
});
export type DeliveryQuery = Static<typeof DeliveryQuery>;

const Touched = closed(
  { id: Type.String(), name: Type.String(), action: literals(["created", "updated", "deleted"]) },
  { title: "TouchedEnvironment" },
);

const Verdict = closed(
  {
    repository: orNull(Type.String(), "null: it is about none in particular."),
    rule: Type.String(),
    passed: Type.Boolean(),
    message: orNull(Type.String(), "Reason; null: nothing to add."),
  },
  { title: "RuleVerdict", description: "Verdict of a rule on the event." },
);

const SUMMARY = {
  id: Type.String({ description: "The id under which it is stored." }),
  source: literals(WEBHOOK_SOURCES, { description: "The endpoint that received it." }),
  host: orNull(Type.String(), "The id of its host in the settings; null: the contract's own headers."),
  delivery_id: orNull(Type.String(), "As the host names it; null: it gave none."),
  event_name: Type.String({ description: "As the host names it." }),
  event: literals(EVENT_TYPES),
  action: orNull(Type.String(), "Action of a pull request."),
  number: orNull(Type.Integer(), "Number of a pull request."),
  commit: orNull(Type.String(), "Reported commit."),
  verified: Type.Boolean({ description: "True when a signature or a token was checked." }),
  repositories: Type.Array(Type.String(), { description: "Ids of the repositories whose key verified it." }),
  received_at: Instant,
  finished_at: orNull(Instant, "null: it is pending."),
  status: literals(DELIVERY_PHASES),
  reason: Type.String({ description: "A stable word." }),
  message: Type.String(),
  environments: Type.Array(Touched),
};

const EXAMPLE = {
  id: ID,
  source: "repohost",
  host: "github",
  delivery_id: "72d3162e-cc78-11e3-81ab-4c9367dc0958",
  event_name: "pull_request",
  event: "pull_request",
  action: "opened",
  number: 42,
  commit: "6dcb09b5b57875f334f61aebed695e2e4193db5e",
  verified: true,
  repositories: ["shop-api"],
  received_at: "2026-06-01T12:00:00.000Z",
  finished_at: "2026-06-01T12:00:00.020Z",
  status: "acted",
  reason: "Qualifies",
  message: "the environment is created",
  environments: [{ id: "0f3c2d4e-8f5a-4a39-9d0b-6a1f6c1f7f10", name: "shop-api-pr-42", action: "created" }],
};
const TRACE = [{ repository: "shop-api", rule: "enabled", passed: true, message: null }];

export const DeliverySummary = closed(SUMMARY, { title: "WebhookDelivery", examples: [EXAMPLE] });
export type DeliverySummary = Static<typeof DeliverySummary>;
export const DeliveryPage = pageOf(DeliverySummary, { title: "WebhookDeliveryPage" });

export const DeliveryReport = closed(
  {
    ...SUMMARY,
    trace: Type.Array(Verdict, { description: "The rules in the order of their evaluation." }),
    note: orNull(Type.String(), "Content of an unverified event."),
  },
  { title: "WebhookDeliveryReport", examples: [{ ...EXAMPLE, trace: TRACE, note: null }] },
);
export type DeliveryReport = Static<typeof DeliveryReport>;

export const OutcomeReport = closed(
  {
    delivery: orNull(Type.String(), "The id under which it is stored."),
    outcome: literals(["acted", "ignored", "pending", "duplicate"]),
    reason: Type.String({ description: "A stable word." }),
    message: Type.String(),
    environments: Type.Array(Touched),
    trace: Type.Array(Verdict),
  },
  {
    title: "WebhookOutcome",
    examples: [
      {
        delivery: ID,
        outcome: "acted",
        reason: EXAMPLE.reason,
        message: EXAMPLE.message,
        environments: EXAMPLE.environments,
        trace: TRACE,
      },
    ],
  },
);
export type OutcomeReport = Static<typeof OutcomeReport>;

export const SimulateRequest = closed(
  {
    repository: RepositoryId,
    event: Type.String({ minLength: 1, maxLength: 64, description: "Name, as the host sends it in a header." }),
    payload: Type.Object({}, { additionalProperties: true, description: "The event as its host would send it." }),
  },
  {
    title: "SimulateWebhook",
    examples: [{ repository: "shop-api", event: "pull_request", payload: WEBHOOK_EXAMPLES.pullRequest }],
  },
);

export const SimulationReport = closed(
  {
    event: literals(EVENT_TYPES, { description: "Type of the event, in the platform's words." }),
    decisions: Type.Array(
      closed(
        {
          do: literals(["create", "update", "delete", "wait", "report", "nothing"]),
          reason: Type.String({ description: "A stable word." }),
          message: orNull(Type.String(), "null: nothing to add."),
          environment: orNull(Type.String(), "Name of the environment; null: none, or none that the caller may see."),
        },
        { title: "WebhookDecision" },
      ),
    ),
    trace: Type.Array(Verdict, { description: "The rules in the order of their evaluation." }),
  },
  {
    title: "WebhookSimulation",
    examples: [
      {
        event: "pull_request",
        decisions: [{ do: "create", reason: "Qualifies", message: null, environment: "shop-api-pr-42" }],
        trace: TRACE,
      },
    ],
  },
);
export type SimulationReport = Static<typeof SimulationReport>;

export const ApprovalPath = closed({
  id: Type.String({ minLength: 1, maxLength: 253, description: "The repository's id.", examples: ["shop-api"] }),
  number: Type.String({
    pattern: "^[1-9][0-9]{0,8}$",
    "x-refusal": "must be the number of a pull request",
    description: "The number of the pull request.",
    examples: ["42"],
  }),
});

export const ApprovalRequest = closed(
  {
    commit: Type.String({
      pattern: "^[0-9a-f]{40}([0-9a-f]{24})?$",
      "x-refusal": "must be the whole SHA of the pull request's head commit, in lower case",
      description: "The head commit that may have an environment; a later one needs an approval of its own.",
    }),
  },
  { title: "ApproveCommit", examples: [{ commit: "6dcb09b5b57875f334f61aebed695e2e4193db5e" }] },
);

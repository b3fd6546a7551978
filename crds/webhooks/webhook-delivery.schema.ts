import { type Static, Type } from "typebox";
import { HostRepository } from "../repository/host-repository.schema.ts";
import { described, literals, rules, text, timestamp } from "../schema.ts";
import { WebhookEvent } from "./webhook-event.schema.ts";

/**
 * Source of a delivery: the endpoint that received it. No endpoints of hosts: `approval`, the approval of a fork's
 * commit, and `refetch`, the state of a pull request read from its host.
 */
export const WEBHOOK_SOURCES = ["repohost", "pipelinehost", "generic", "environment", "approval", "refetch"] as const;
export type WebhookSource = (typeof WEBHOOK_SOURCES)[number];

export const DELIVERY_PHASES = ["pending", "acted", "ignored", "failed"] as const;
export type DeliveryPhase = (typeof DELIVERY_PHASES)[number];

export const DELIVERY_ID_MAX_LENGTH = 128;

export const WebhookDeliverySpec = Type.Object(
  {
    source: literals(WEBHOOK_SOURCES, { description: "The endpoint that received it." }),
    host: Type.Optional(
      Type.String({ maxLength: 63, description: "Host's id in the settings; none: the contract's own headers." }),
    ),
    deliveryId: Type.Optional(
      Type.String({ minLength: 1, maxLength: DELIVERY_ID_MAX_LENGTH, description: "As the host names it." }),
    ),
    eventName: Type.String({ maxLength: 64, description: "As the host names it." }),
    digest: Type.String({ minLength: 64, maxLength: 64, pattern: "^[0-9a-f]+$", description: "SHA-256 of the body." }),
    deduplicationKey: Type.Optional(
      Type.String({
        minLength: 40,
        maxLength: 40,
        pattern: "^[0-9a-f]+$",
        description:
          "Equal for deliveries that report the same event: an app's hook and a repository's send different bodies.",
      }),
    ),
    verified: Type.Boolean({ description: "True when a signature or a token was checked." }),
    receivedAt: timestamp("Time when the platform received it."),
    repositories: Type.Optional(
      Type.Array(Type.String({ maxLength: 50 }), {
        maxItems: 10,
        description: "The Repositories whose key verified it.",
      }),
    ),
    hostRepository: Type.Optional(
      described(HostRepository, "The repository as its host named it; only of a host of the settings."),
    ),
    event: WebhookEvent,
    message: Type.Optional(Type.String({ maxLength: 500, description: "Content of an unverified event, for people." })),
  },
  {
    description: "Received facts; only the platform writes them, once.",
    ...rules({ rule: "self == oldSelf", message: "a delivery is never changed" }),
  },
);
export type WebhookDeliverySpec = Static<typeof WebhookDeliverySpec>;

export const VERDICT_MESSAGE_MAX_LENGTH = 300;
export const OUTCOME_MESSAGE_MAX_LENGTH = 500;

/** One rule's verdict. */
export const RuleVerdict = Type.Object({
  repository: Type.Optional(text(50, "Name of the Repository that has the rule.")),
  rule: text(64, "Name of the rule."),
  passed: Type.Boolean({ description: "True when the event passed the rule." }),
  message: Type.Optional(text(VERDICT_MESSAGE_MAX_LENGTH, "For people: why it did or did not.")),
});
export type RuleVerdict = Static<typeof RuleVerdict>;

export const WebhookDeliveryStatus = Type.Object(
  {
    phase: literals(DELIVERY_PHASES, {
      description: "acted and ignored are final; failed acts again when the host delivers again.",
    }),
    reason: text(64, "A stable word in CamelCase."),
    message: text(OUTCOME_MESSAGE_MAX_LENGTH, "For people: what was done, or why nothing was."),
    environments: Type.Optional(
      Type.Array(
        Type.Object({
          name: text(253, "Name of the environment."),
          uid: text(64, "Metadata.uid."),
          action: literals(["created", "updated", "deleted"], { description: "Action on the environment." }),
        }),
        { maxItems: 100, description: "The environments that it created, updated or deleted." },
      ),
    ),
    trace: Type.Optional(
      Type.Array(RuleVerdict, { maxItems: 40, description: "The rules in the order of their evaluation." }),
    ),
    waitsSince: Type.Optional(
      timestamp(
        "Begin of its wait for a name that is being deleted, or for an unavailable host or secret manager; after an hour it fails.",
      ),
    ),
    attempts: Type.Optional(Type.Integer({ minimum: 0, description: "Number of failed attempts to act on it." })),
    finishedAt: Type.Optional(timestamp("Time of the decision.")),
  },
  { description: "The outcome; only the platform writes it." },
);
export type WebhookDeliveryStatus = Static<typeof WebhookDeliveryStatus>;

import { type Static, Type } from "typebox";
import { NOTIFIED_EVENTS } from "../repository/webhook-rules.schema.ts";
import { literals, rules, text, timestamp } from "../schema.ts";

export const CHANNELS = ["chat", "email"] as const;
/** Technology that sends a message. */
export type Channel = (typeof CHANNELS)[number];

/** Events that a Repository may choose, and those always sent. */
export const MESSAGE_EVENTS = [...NOTIFIED_EVENTS, "expiry", "unverified", "webhook"] as const;
export type MessageEvent = (typeof MESSAGE_EVENTS)[number];

export const NOTIFICATION_PHASES = ["pending", "sent", "failed"] as const;
export type NotificationPhase = (typeof NOTIFICATION_PHASES)[number];

export const FACT_MAX_LENGTH = 500;
const fact = (description: string) => Type.Optional(text(FACT_MAX_LENGTH, description));
const facts = {
  environment: fact("Name of the environment."),
  event: fact("The event."),
  status: fact("The event, or the state that it reports."),
  reason: fact("The reason of a failure, as a stable word."),
  message: fact("The problem, for people."),
  url: fact("The URL for people."),
  backendUrl: fact("URL of the backend."),
  frontendUrl: fact("URL of the frontend."),
  hostUrls: fact("The further hosts, each as name: URL; as many as fit."),
  repository: fact("Name of the Repository."),
  branch: fact("The git branch."),
  commit: fact("The first digits of the commit."),
  image: fact("The container image."),
  project: fact("The project of the pipeline on its host."),
  pipelineUrl: fact("The pipeline's page on its host."),
  owner: fact("Name of the environment's owner."),
  expiresAt: fact("Expiry of the environment."),
  hours: fact("Hours from the warning to the expiry."),
};
export type Fact = keyof typeof facts;
/** Names that templates may use, beside `extendUrl` in an e-mail that warns of an expiry. */
export const FACTS = Object.keys(facts) as readonly Fact[];
/** Texts of a message, by name, as far as they are known. */
export type Facts = { readonly [fact in Fact]?: string };

export const NotificationSpec = Type.Object(
  {
    channel: literals(CHANNELS, { description: "The technology that the message is sent by." }),
    to: text(254, "A chat channel of the settings, or an address.", { minLength: 1 }),
    event: literals(MESSAGE_EVENTS, {
      description:
        "The event of the message. expiry: the warning before an environment expires; unverified: an event at an endpoint without authentication; webhook: the webhooks of a Repository don't arrive any more.",
    }),
    template: text(63, "The id of a template.", { minLength: 1 }),
    facts: Type.Unsafe<Facts>(Type.Object(facts, { description: "The texts that the template may name." })),
    at: timestamp(
      "Time of the creation, to the millisecond: the order in which the messages of a destination are sent.",
    ),
    environment: Type.Optional(
      Type.Object(
        { name: text(253, "Name."), uid: text(64, "Metadata.uid.") },
        { description: "The environment that the message is about, if there is one." },
      ),
    ),
  },
  {
    description: "The message; only the platform writes it, once.",
    ...rules({ rule: "self == oldSelf", message: "a notification is never changed" }),
  },
);
export type NotificationSpec = Static<typeof NotificationSpec>;

export const NotificationStatus = Type.Object(
  {
    phase: literals(NOTIFICATION_PHASES, { description: "sent and failed are final." }),
    attempts: Type.Integer({ minimum: 0, description: "Number of begun attempts." }),
    nextAttemptAt: Type.Optional(timestamp("The next attempt is not before this moment.")),
    message: Type.Optional(text(FACT_MAX_LENGTH, "Reason of the last failed attempt.")),
    sentAt: Type.Optional(timestamp("Time when the message was accepted for delivery.")),
  },
  { description: "The state of its delivery; only the operator writes it." },
);
export type NotificationStatus = Static<typeof NotificationStatus>;

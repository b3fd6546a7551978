import { type Static, Type } from "typebox";
import { NOTIFIED_EVENTS } from "../repository/webhook-rules.schema.ts";
import { literals, rules, Timestamp } from "../schema.ts";

export const CHANNELS = ["chat", "email"] as const;
/** The technology that a message is sent by. */
export type Channel = (typeof CHANNELS)[number];

/**
 * `expiry`: the warning before an environment expires; `unverified`: what an endpoint without authentication was told;
 * `webhook`: the webhooks of a Repository don't arrive any more; the others are the events that a Repository may choose from.
 */
export const MESSAGE_EVENTS = [...NOTIFIED_EVENTS, "expiry", "unverified", "webhook"] as const;
export type MessageEvent = (typeof MESSAGE_EVENTS)[number];

export const NOTIFICATION_PHASES = ["pending", "sent", "failed"] as const;
export type NotificationPhase = (typeof NOTIFICATION_PHASES)[number];

export const FACT_MAX_LENGTH = 500;
/** The names that templates may use, beside `extendUrl` in an e-mail that warns of an expiry. */
export const FACTS = [
  "environment",
  "event",
  "status",
  "reason",
  "message",
  "url",
  "backendUrl",
  "frontendUrl",
  "repository",
  "branch",
  "commit",
  "image",
  "project",
  "pipelineUrl",
  "owner",
  "expiresAt",
  "hours",
] as const;
export type Fact = (typeof FACTS)[number];
/** The texts of a message, by name; what is unknown is left out. */
export type Facts = { readonly [fact in Fact]?: string };

const fact = Type.Optional(Type.String({ maxLength: FACT_MAX_LENGTH }));

export const NotificationSpec = Type.Object(
  {
    channel: literals(CHANNELS),
    to: Type.String({ minLength: 1, maxLength: 254, description: "A chat channel of the settings, or an address." }),
    event: literals(MESSAGE_EVENTS),
    template: Type.String({ minLength: 1, maxLength: 63, description: "The id of a template." }),
    facts: Type.Unsafe<Facts>(
      Type.Object(Object.fromEntries(FACTS.map((name) => [name, fact])), {
        description: "The texts that the template may name.",
      }),
    ),
    at: Type.Unsafe<string>({
      ...Timestamp,
      description: "When it was made, to the millisecond: the order in which the messages of a destination are sent.",
    }),
    environment: Type.Optional(
      Type.Object({ name: Type.String({ maxLength: 253 }), uid: Type.String({ maxLength: 64 }) }),
    ),
  },
  rules({ rule: "self == oldSelf", message: "a notification is never changed" }),
);
export type NotificationSpec = Static<typeof NotificationSpec>;

export const NotificationStatus = Type.Object({
  phase: literals(NOTIFICATION_PHASES),
  attempts: Type.Integer({ minimum: 0 }),
  nextAttemptAt: Type.Optional(Type.Unsafe<string>({ ...Timestamp, description: "Not before this moment." })),
  message: Type.Optional(Type.String({ maxLength: FACT_MAX_LENGTH, description: "Why the last attempt failed." })),
  sentAt: Type.Optional(Timestamp),
});
export type NotificationStatus = Static<typeof NotificationStatus>;

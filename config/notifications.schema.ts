/** Settings of messages: chat channels, mail server, texts, and warnings. */
import { type Static, Type } from "typebox";
import { SecretRef } from "../crds/overrides.schema.ts";
import { closed, described } from "../crds/schema.ts";

const Reference = (description: string) => described(SecretRef, description);
const ChannelName = (description: string) => Type.String({ minLength: 1, maxLength: 80, description });

const Chat = closed(
  {
    webhooks: Type.Array(
      closed({
        channel: ChannelName("Name that Repositories use as `notify.chatChannel`."),
        urlRef: Reference(
          "The address of a Slack-compatible incoming webhook, which is a credential: https, or http on loopback.",
        ),
      }),
      { default: [], maxItems: 100, description: "The only channels that are ever written to." },
    ),
    default: Type.Optional(ChannelName("The channel of Repositories that name none; they are silent without it.")),
    unverifiedChannel: Type.Optional(
      ChannelName("Channel for messages about the endpoints without authentication; none are sent without it."),
    ),
  },
  { default: {}, description: "Messages about environments and pipelines." },
);

const Smtp = closed({
  host: Type.String({ minLength: 1, maxLength: 253, description: "The mail server." }),
  port: Type.Integer({ minimum: 1, maximum: 65535, default: 587, description: "Port for submission." }),
  secure: Type.Boolean({
    default: false,
    description: "TLS from the first byte (port 465); otherwise STARTTLS, which is required except on loopback.",
  }),
  user: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 254,
      description: "The user name at the mail server; without it, the platform does not sign in.",
    }),
  ),
  passwordRef: Type.Optional(Reference("The password of the user.")),
  from: Type.String({
    maxLength: 254,
    pattern: '^[^\\s@<>,;:"()]+@[A-Za-z0-9.-]+$',
    description: "The address that messages come from.",
  }),
  caFile: Type.Optional(
    Type.String({ minLength: 1, description: "PEM file of the authority behind its certificate." }),
  ),
});
export type SmtpSettings = Static<typeof Smtp>;

const Text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 4000, description }));

/** A template of messages; missing parts come from the built-in one of its event. */
const MessageTemplate = closed({
  id: Type.String({
    minLength: 1,
    maxLength: 63,
    pattern: "^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$",
    description: "An event replaces the built-in template: created, ready, failed, updated, deleted, pipeline, expiry.",
  }),
  chat: Text("The text in a chat."),
  subject: Text("The subject of an e-mail."),
  text: Text("The text of an e-mail."),
});
export type MessageTemplate = Static<typeof MessageTemplate>;

export const NotificationSettings = closed(
  {
    chat: Chat,
    email: Type.Optional(
      closed(
        { smtp: described(Smtp, "Mail server.") },
        { description: "Warnings before an expiry, to the owner alone; none without it." },
      ),
    ),
    templates: Type.Array(MessageTemplate, {
      default: [],
      maxItems: 100,
      description: "Mustache, https://mustache.github.io/mustache.5.html: names of facts and sections, no code.",
    }),
    expiryWarnings: closed(
      {
        hours: Type.Array(Type.Integer({ minimum: 1, maximum: 168 }), {
          default: [24, 1],
          maxItems: 5,
          uniqueItems: true,
          description:
            "The hours before the expiry; a warning that would come with the creation or an extension is left out.",
        }),
        extensionHours: Type.Integer({
          minimum: 1,
          maximum: 168,
          default: 24,
          description: "Hours that the link of a warning adds to the TTL; there is a link only with `publicUrl`.",
        }),
      },
      { default: {} },
    ),
    pendingPerDestination: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 200,
      description:
        "Limit of messages that wait for a channel or an address. Beyond it the oldest are given up, except the one that is being sent.",
    }),
    retention: closed(
      {
        finished: Type.Integer({ minimum: 1, default: 1000, description: "Limit; the oldest are removed." }),
        hours: Type.Integer({ minimum: 1, default: 24, description: "Time to keep them." }),
      },
      { default: {}, description: "Number and age of the kept sent and failed messages." },
    ),
  },
  { default: {} },
);

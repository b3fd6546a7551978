import Mustache from "mustache";
import type { MessageTemplate } from "../../../config/notifications.schema.ts";
import type { Settings } from "../../../config/settings.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { expiresAt, isProtected, ttlHours } from "../../../crds/environment/lifetime.ts";
import { extendedTtl, signExtension } from "../../../crds/notifications/extension-token.ts";
import type { Facts, MessageEvent, Notification, NotificationSpec } from "../../../crds/notifications/notification.ts";
import type { SecretRef } from "../../../crds/overrides.schema.ts";
import { present } from "../../../crds/present.ts";
import { textOf } from "../../../crds/secret-text.ts";
import type { Sensitive } from "../../../crds/sensitive.ts";
import { type Chat, type Mail, MessageRefused, MessagingUnavailable } from "../../ports/notifications.ts";
import { SecretManagerUnavailable, type SecretReader } from "../../ports/secret-manager.ts";
import { chatFacts, mailFacts, oneLine } from "./escaping.ts";

/** The settings and ports by which messages are sent. */
export interface MessageSenderDependencies {
  readonly settings: Settings;
  readonly secretManager: SecretReader;
  readonly chat: Chat;
  /** Present when the settings name a mail server. */
  readonly mail?: Mail | undefined;
  /** Key of extension links; see `extensionKeyOf`. */
  readonly extensionKey: () => Promise<Sensitive>;
  readonly environmentOf: (uid: string) => EphemeralEnvironment | undefined;
}

/**
 * Sends one message by its channel. The extension link is made here: it is in no resource, and in no chat.
 *
 * @returns a function that throws MessageRefused or MessagingUnavailable
 */
export function createSender(context: MessageSenderDependencies) {
  const { settings, chat, mail } = context;
  const texts = messageTexts(settings.notifications.templates);

  async function post(spec: NotificationSpec, signal: AbortSignal): Promise<void> {
    const webhook = settings.notifications.chat.webhooks.find(({ channel }) => channel === spec.to);
    if (webhook === undefined) {
      throw new MessageRefused(`no webhook of notifications.chat.webhooks has the channel '${spec.to}'`);
    }
    await chat.post(await secretOf(webhook.urlRef, context), texts.chat(spec), signal);
  }

  async function mailTo({ metadata, spec }: Notification, signal: AbortSignal): Promise<void> {
    const { smtp } = settings.notifications.email ?? {};
    if (mail === undefined || smtp === undefined) throw new MessageRefused("the settings name no mail server");
    const { subject, text } = texts.mail(spec, await extensionLink(spec, context));
    const password = smtp.passwordRef && (await secretOf(smtp.passwordRef, context));
    await mail.send({ id: metadata.name, to: spec.to, subject, text }, password, signal);
  }

  return async (notification: Notification, signal: AbortSignal): Promise<void> => {
    try {
      await (notification.spec.channel === "chat" ? post(notification.spec, signal) : mailTo(notification, signal));
    } catch (cause) {
      if (!(cause instanceof SecretManagerUnavailable)) throw cause;
      throw new MessagingUnavailable("the secret manager can't be used", { cause });
    }
  };
}

/** A missing secret can be written yet. */
async function secretOf(ref: SecretRef, { secretManager }: MessageSenderDependencies): Promise<Sensitive> {
  const text = await textOf(ref, secretManager);
  if (text === undefined) throw new MessagingUnavailable(`the secret manager has no '${ref.name}@${ref.key}'`);
  return text;
}

/** The link of an expiry warning; none without `publicUrl`, and none for an environment that has the longest TTL. */
async function extensionLink(spec: NotificationSpec, context: MessageSenderDependencies): Promise<string | undefined> {
  const { publicUrl, ttl, notifications } = context.settings;
  if (spec.event !== "expiry" || publicUrl === undefined) return undefined;
  const environment = context.environmentOf(spec.environment?.uid ?? "");
  const addedHours = notifications.expiryWarnings.extensionHours;
  // An extension would not move the end of a protection.
  if (environment === undefined || isProtected(environment)) return undefined;
  if (extendedTtl(ttlHours(environment), addedHours, ttl.maximumHours) === undefined) return undefined;
  const expiry = expiresAt(environment);
  const grant = { uid: environment.metadata.uid, expiresAt: expiry, addedHours, endsAt: expiry };
  const token = signExtension(grant, await context.extensionKey());
  return `${publicUrl.replace(/\/$/, "")}/api/v2/extensions/${token}`;
}

type Texts = Required<Omit<MessageTemplate, "id">>;

/** Limit of a chat (https://docs.slack.dev/changelog/2018-truncating-really-long-messages); mail programs show more. */
const MAX_CHAT_CHARS = 4_000;
const MAX_SUBJECT_CHARS = 200;
const SIGNATURE = "\n\nSent by the Ephemeral Environment Platform.\n";
const ADDRESSES = "{{url}}{{#hostUrls}}, {{hostUrls}}{{/hostUrls}}";
const CODE = "{{repository}} {{branch}}{{#commit}} at {{commit}}{{/commit}}";

const texts = (chat: string, subject: string, text: string): Texts => ({ chat, subject, text: text + SIGNATURE });
const same = (sentence: string, subject: string) => texts(sentence, subject, sentence.replaceAll("*", ""));

const BUILT_IN: Readonly<Record<MessageEvent, Texts>> = {
  created: same(`*{{environment}}* is being created: ${CODE}`, "{{environment}} is being created"),
  ready: same(`*{{environment}}* is ready: ${ADDRESSES} (${CODE})`, "{{environment}} is ready"),
  updated: same(`*{{environment}}* is updated: ${ADDRESSES} (${CODE})`, "{{environment}} is updated"),
  failed: same(`*{{environment}}* failed: {{reason}}: {{message}} (${CODE})`, "{{environment}} failed"),
  deleted: same("*{{environment}}* is deleted{{#reason}} ({{reason}}){{/reason}}", "{{environment}} is deleted"),
  pipeline: same(
    "Pipeline of *{{project}}* at {{commit}}: {{status}}{{#image}}, image {{image}}{{/image}}{{#pipelineUrl}} {{pipelineUrl}}{{/pipelineUrl}}",
    "Pipeline of {{project}}: {{status}}",
  ),
  expiry: texts(
    "*{{environment}}* expires at {{expiresAt}}",
    "{{environment}} expires at {{expiresAt}}",
    "Your environment {{environment}} expires at {{expiresAt}}, and everything in it is deleted then.\n\n{{url}}\n{{#extendUrl}}\nTo extend it once, open this link and confirm. Anybody who has the link can do so:\n{{extendUrl}}\n{{/extendUrl}}",
  ),
  webhook: same(
    "Webhooks of *{{repository}}* may not arrive: {{reason}}: {{message}}",
    "Webhooks of {{repository}} may not arrive",
  ),
  unverified: same("Unverified: {{status}} {{environment}} {{message}}", "Unverified: {{status}} {{environment}}"),
};

/**
 * Renders the messages of an installation.
 *
 * @param configured templates of the settings; the event's built-in one fills gaps
 */
export function messageTexts(configured: readonly MessageTemplate[]) {
  const textsOf = ({ template, event }: NotificationSpec): Texts => ({
    ...BUILT_IN[event],
    ...configured.find(({ id }) => id === template),
  });
  return {
    /** Text in chat markup. */
    chat(spec: NotificationSpec): string {
      return render(textsOf(spec).chat, chatFacts(spec.facts)).slice(0, MAX_CHAT_CHARS);
    },
    /** @param extendUrl link that extends the environment, if possible */
    mail(spec: NotificationSpec, extendUrl?: string): { subject: string; text: string } {
      const { subject, text } = textsOf(spec);
      const facts = { ...mailFacts(spec.facts), ...present({ extendUrl }) };
      return { subject: oneLine(render(subject, facts)).slice(0, MAX_SUBJECT_CHARS), text: render(text, facts) };
    },
  };
}

/** Facts are already escaped, for every spelling of a name; without a prototype `constructor` is no name. */
function render(template: string, facts: Facts): string {
  return Mustache.render(template, Object.assign(Object.create(null), facts), {}, { escape: (text) => text });
}

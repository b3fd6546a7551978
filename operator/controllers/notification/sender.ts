import type { Settings } from "../../../config/settings.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { expiresAt, isProtected, ttlHours } from "../../../crds/environment/lifetime.ts";
import type { SecretRef } from "../../../crds/environment/overrides.schema.ts";
import { extendedTtl, signExtension } from "../../../crds/notifications/extension-token.ts";
import type { Notification, NotificationSpec } from "../../../crds/notifications/notification.ts";
import type { Sensitive } from "../../../crds/sensitive.ts";
import { type Chat, type Mail, MessageRefused, MessagingUnavailable } from "../../ports/notifications/messaging.ts";
import { type SecretManager, SecretManagerUnavailable, textOf } from "../../ports/secret-manager.ts";
import { messageTexts } from "./templates.ts";

/** The settings and ports by which messages are sent. */
export interface MessageSenderDependencies {
  readonly settings: Settings;
  readonly secretManager: Pick<SecretManager, "read">;
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

import type { Settings } from "../../config/settings.ts";
import { incomingWebhookChat } from "../adapters/slack/incoming-webhook.ts";
import { smtpMail } from "../adapters/smtp/smtp-mail.ts";
import { contentOf } from "../kit/content-of.ts";
import type { Chat, Mail } from "../ports/notifications/messaging.ts";

/** Chat of the settings, and their mail server if named. */
export function createMessaging({ notifications }: Settings): { readonly chat: Chat; readonly mail: Mail | undefined } {
  const { smtp } = notifications.email ?? {};
  if (smtp === undefined) return { chat: incomingWebhookChat(), mail: undefined };
  const { caFile, passwordRef: _, ...server } = smtp;
  return { chat: incomingWebhookChat(), mail: smtpMail({ ...server, ca: contentOf(caFile) }) };
}

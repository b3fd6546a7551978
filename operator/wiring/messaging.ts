import { readFileSync } from "node:fs";
import type { Settings } from "../../config/settings.ts";
import { incomingWebhookChat } from "../adapters/slack/incoming-webhook.ts";
import { smtpMail } from "../adapters/smtp/smtp-mail.ts";
import type { Chat, Mail } from "../ports/notifications/messaging.ts";

/** What messages are sent by. */
export interface Messaging {
  readonly chat: Chat;
  /** `undefined` where the settings name no mail server. */
  readonly mail: Mail | undefined;
}

/** The chat and the mail server of the settings. Files are read once. */
export function createMessaging({ notifications }: Settings): Messaging {
  const { smtp } = notifications.email ?? {};
  if (smtp === undefined) return { chat: incomingWebhookChat(), mail: undefined };
  const { caFile, passwordRef: _, ...server } = smtp;
  const ca = caFile === undefined ? undefined : readFileSync(caFile, "utf8");
  return { chat: incomingWebhookChat(), mail: smtpMail({ ...server, ca }) };
}

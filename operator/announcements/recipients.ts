import type { Settings } from "../../config/settings.ts";
import { type EphemeralEnvironment, repositoriesOf } from "../../crds/environment/ephemeral-environment.ts";
import { isCanary } from "../../crds/environment/managed-by.ts";
import type { MessageEvent, NotificationSpec } from "../../crds/notifications/notification.ts";
import type { NOTIFIED_EVENTS } from "../../crds/repository/webhook-rules.schema.ts";
import type { RepositoryFinder } from "../ports/repositories.ts";

type Recipient = Pick<NotificationSpec, "channel" | "to">;

/** The settings and Repositories that name recipients. */
export interface RecipientsContext {
  readonly settings: Settings;
  readonly repositories: RepositoryFinder;
}

/**
 * Chat channels of the Repositories for an event, each once. An unlisted one is included: its failing messages show the
 * mistake.
 *
 * @param event `undefined` for one that Repositories don't select
 */
export function chatRecipients(
  event: (typeof NOTIFIED_EVENTS)[number] | undefined,
  names: readonly string[],
  { settings, repositories }: RecipientsContext,
): readonly Recipient[] {
  const { chat } = settings.notifications;
  if (chat.webhooks.length === 0) return [];
  const channels = names.flatMap((name) => {
    const { chatChannel = chat.default, events } = repositories.find(name)?.spec.notify ?? {};
    const isSelected = event === undefined || events === undefined || events.includes(event);
    return chatChannel !== undefined && isSelected ? [chatChannel] : [];
  });
  return [...new Set(channels)].map((to) => ({ channel: "chat", to }));
}

/** One plain address: no list, name, comment or line end. */
const ADDRESS = /^[^\s@<>,;:"()[\]\\]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,188}[A-Za-z0-9])?$/;

/** The owner only: no event can make us write to another. */
function ownerRecipient({ spec }: EphemeralEnvironment, { notifications }: Settings): readonly Recipient[] {
  const to = spec.owner?.email ?? "";
  return notifications.email !== undefined && ADDRESS.test(to) ? [{ channel: "email", to }] : [];
}

/** Recipients of a transition's messages. */
export function recipientsOf(
  environment: EphemeralEnvironment,
  event: MessageEvent,
  context: RecipientsContext & { readonly repository?: string | undefined },
): readonly Recipient[] {
  // Not about an environment.
  if (event === "unverified" || event === "webhook") return [];
  // A working canary needs no message.
  if (isCanary(environment) && event !== "failed") return [];
  if (event === "expiry") return ownerRecipient(environment, context.settings);
  const names = context.repository === undefined ? repositoriesOf(environment) : [context.repository];
  return chatRecipients(event, names, context);
}

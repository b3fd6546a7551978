import type { Settings } from "../../config/settings.ts";
import { type EphemeralEnvironment, repositoriesOf } from "../../crds/environment/ephemeral-environment.ts";
import { isCanary } from "../../crds/environment/managed-by.ts";
import type { MessageEvent, NotificationSpec } from "../../crds/notifications/notification.ts";
import type { NOTIFIED_EVENTS } from "../../crds/repository/webhook-rules.schema.ts";
import type { Repositories } from "../ports/repositories.ts";

/** Where a message goes. */
export type Recipient = Pick<NotificationSpec, "channel" | "to">;

/** The events that a Repository may choose from. */
export type NotifiedEvent = (typeof NOTIFIED_EVENTS)[number];

/**
 * The chat channels that the Repositories name for an event, each once. One that the settings do not list is among them:
 * its messages fail, so that the mistake is seen.
 *
 * @param event `undefined` for one that Repositories don't choose from
 */
export function chatRecipients(
  event: NotifiedEvent | undefined,
  names: readonly string[],
  { settings, repositories }: { readonly settings: Settings; readonly repositories: Pick<Repositories, "find"> },
): readonly Recipient[] {
  const { chat } = settings.notifications;
  if (chat.webhooks.length === 0) return [];
  const channels = names.flatMap((name) => {
    const { chatChannel = chat.default, events } = repositories.find(name)?.spec.notify ?? {};
    const isWanted = event === undefined || events === undefined || events.includes(event);
    return chatChannel !== undefined && isWanted ? [chatChannel] : [];
  });
  return [...new Set(channels)].map((to) => ({ channel: "chat", to }));
}

/** One plain address: no list, no name, no comment, nothing that ends a line. */
const ADDRESS = /^[^\s@<>,;:"()[\]\\]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,188}[A-Za-z0-9])?$/;

/** The owner's address, and no other one: an event that names an address can't make us write to it. */
export function ownerRecipient({ spec }: EphemeralEnvironment, { notifications }: Settings): readonly Recipient[] {
  const to = spec.owner?.email ?? "";
  return notifications.email !== undefined && ADDRESS.test(to) ? [{ channel: "email", to }] : [];
}

/** Where the messages about a transition of an environment go. */
export function recipientsOf(
  environment: EphemeralEnvironment,
  event: MessageEvent,
  context: Parameters<typeof chatRecipients>[2] & { readonly repository?: string | undefined },
): readonly Recipient[] {
  // These are about no environment.
  if (event === "unverified" || event === "webhook") return [];
  // That it works is no news.
  if (isCanary(environment) && event !== "failed") return [];
  if (event === "expiry") return ownerRecipient(environment, context.settings);
  const names = context.repository === undefined ? repositoriesOf(environment) : [context.repository];
  return chatRecipients(event, names, context);
}

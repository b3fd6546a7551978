import type { Settings } from "../../config/settings.ts";
import { clipped } from "../../crds/conditions.ts";
import { MINUTE_MS } from "../../crds/durations.ts";
import { type Channel, FACT_MAX_LENGTH } from "../../crds/notifications/notification.schema.ts";
import { notificationName } from "../../crds/notifications/notification.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { UnverifiedEvent } from "../ports/api/webhook-inbox.ts";
import type { Notifications } from "../ports/notifications.ts";

interface UnverifiedMessageDependencies {
  readonly settings: Settings;
  readonly notifications: Notifications;
  readonly clock: Clock;
}

/** Limit over all senders and replicas: a flood must not fill a chat. */
const UNVERIFIED_PER_MINUTE = 10;

/** Reports unverified events to people, in one channel of the settings. */
export interface UnverifiedMessages {
  /** Technologies of that channel; what was sent decides nothing. */
  readonly channels: readonly Channel[];
  /** Creates an event's message, up to `UNVERIFIED_PER_MINUTE`. */
  report(event: Pick<UnverifiedEvent, "id" | "eventName" | "message">): Promise<void>;
}

export function createUnverifiedMessages({
  settings,
  notifications,
  clock,
}: UnverifiedMessageDependencies): UnverifiedMessages {
  const to = settings.notifications.chat.unverifiedChannel;
  if (to === undefined) return { channels: [], report: async () => undefined };
  const recipient = { channel: "chat", to } as const;
  return {
    channels: [recipient.channel],
    async report({ id, eventName, message }) {
      const now = clock.now();
      const isRecent = (at: string) => now.getTime() - Date.parse(at) < MINUTE_MS;
      const recent = notifications.list().filter(({ spec }) => spec.event === "unverified" && isRecent(spec.at));
      if (recent.length >= UNVERIFIED_PER_MINUTE) return;
      const facts = { event: "unverified", status: eventName, message: clipped(message, FACT_MAX_LENGTH) };
      const spec = { ...recipient, event: "unverified", template: "unverified", facts, at: now.toISOString() } as const;
      await notifications.add(notificationName(["unverified", id], recipient), spec);
    },
  };
}

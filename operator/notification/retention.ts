import type { Settings } from "../../config/settings.ts";
import { isPending, type Notification } from "../../crds/notifications/notification.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { Notifications } from "../ports/notifications/notifications.ts";

/** So many at most at a time: the rest is left to the next collection. */
const MOST_REMOVED = 500;
const HOUR_MS = 3_600_000;

export interface RetentionContext {
  readonly settings: Settings;
  readonly notifications: Pick<Notifications, "list" | "remove">;
  readonly clock: Clock;
}

/** Removes the messages that are done with and are too many or too old, oldest first; one that waits is never removed. */
export function removeFinishedMessages({ settings, notifications, clock }: RetentionContext) {
  return async (signal: AbortSignal): Promise<void> => {
    const { finished, hours } = settings.notifications.retention;
    const notBefore = clock.now().getTime() - hours * HOUR_MS;
    const oldestFirst = notifications
      .list()
      .filter((one) => !isPending(one))
      .sort((one, other) => madeAt(one) - madeAt(other));
    const surplus = oldestFirst.filter((one, at) => at < oldestFirst.length - finished || madeAt(one) < notBefore);
    for (const notification of surplus.slice(0, MOST_REMOVED)) {
      signal.throwIfAborted();
      await notifications.remove(notification);
    }
  };
}

const madeAt = ({ metadata }: Notification) => Date.parse(metadata.creationTimestamp);

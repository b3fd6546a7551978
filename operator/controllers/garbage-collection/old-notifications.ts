import type { Settings } from "../../../config/settings.ts";
import { isPending, type Notification } from "../../../crds/notifications/notification.ts";
import { surplusOf } from "../../kit/surplus.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { Notifications } from "../../ports/notifications/notifications.ts";

/** So many at most at a time: the rest is left to the next collection. */
const MOST_REMOVED = 500;
const HOUR_MS = 3_600_000;

export interface RetentionContext {
  readonly settings: Settings;
  readonly notifications: Pick<Notifications, "list" | "remove">;
  readonly clock: Clock;
}

/**
 * Removes the messages that are done with and are too many or too old, oldest first; one that waits is never removed.
 *
 * @returns a function that answers whether some are left for the next collection
 */
export function removeFinishedMessages({ settings, notifications, clock }: RetentionContext) {
  return async (signal: AbortSignal): Promise<boolean> => {
    const { finished, hours } = settings.notifications.retention;
    const notBefore = new Date(clock.now().getTime() - hours * HOUR_MS);
    const done = notifications.list().filter((one) => !isPending(one));
    const surplus = surplusOf(done, madeAtMs, { atMost: finished, notBefore });
    for (const notification of surplus.slice(0, MOST_REMOVED)) {
      signal.throwIfAborted();
      await notifications.remove(notification);
    }
    return surplus.length > MOST_REMOVED;
  };
}

const madeAtMs = ({ metadata }: Notification) => Date.parse(metadata.creationTimestamp);

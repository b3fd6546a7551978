import type { Notification, NotificationSpec, NotificationStatus } from "../../../crds/notifications/notification.ts";

/**
 * The messages of the outbox. Reads come from this process's cache, which never shows an older version than a write of this
 * process; the methods that write throw the kit's KubeError when the API server can't be asked or refuses.
 */
export interface Notifications {
  list(): readonly Notification[];

  /** Those that are neither sent nor given up, by `destinationOf`; in no order. */
  pendingFor(destination: string): readonly Notification[];

  /** Makes it, unless there is one of that name; see `notificationName`. */
  add(name: string, spec: NotificationSpec): Promise<void>;

  /**
   * Notes that an attempt begins, on the version that was read: of several processes one succeeds.
   *
   * @returns `undefined` when it was changed or is gone
   */
  claim(notification: Notification, status: NotificationStatus): Promise<Notification | undefined>;

  /** Notes how an attempt ended, whatever else of it was changed meanwhile; one that is gone is fine. */
  finish(notification: Notification, status: NotificationStatus): Promise<void>;

  /** Deletes exactly this one; one that is gone is fine. */
  remove(notification: Notification): Promise<void>;
}

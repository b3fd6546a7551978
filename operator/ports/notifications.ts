import type { Notification, NotificationSpec, NotificationStatus } from "../../crds/notifications/notification.ts";

/**
 * Messages of the outbox. Reads come from this process's cache with its own writes; writes throw the kit's KubeError
 * when the API server is unreachable or refuses.
 */
export interface Notifications {
  list(): readonly Notification[];

  /** Unfinished messages by `destinationOf`, unordered. */
  pendingFor(destination: string): readonly Notification[];

  /** Creates it unless the name exists; see `notificationName`. */
  add(name: string, spec: NotificationSpec): Promise<void>;

  /**
   * Records the start of an attempt, on the version read: only one of several processes succeeds.
   *
   * @returns `undefined` when it was changed or is gone
   */
  claim(notification: Notification, status: NotificationStatus): Promise<Notification | undefined>;

  /** Records the end of an attempt, over other changes; fine when it is gone. */
  finish(notification: Notification, status: NotificationStatus): Promise<void>;

  /** Deletes exactly this one; fine when it is gone. */
  remove(notification: Notification): Promise<void>;
}

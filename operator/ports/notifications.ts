import type { Notification, NotificationSpec, NotificationStatus } from "../../crds/notifications/notification.ts";
import type { Sensitive } from "../../crds/sensitive.ts";

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
  /** Records the start of an attempt: for one process alone. @returns `undefined` when it was changed or is gone */
  claim(notification: Notification, status: NotificationStatus): Promise<Notification | undefined>;
  /** Records the end of an attempt, over other changes; fine when it is gone. */
  finish(notification: Notification, status: NotificationStatus): Promise<void>;
  /** Deletes exactly this one; fine when it is gone. */
  remove(notification: Notification): Promise<void>;
}

/** A chat. Methods throw MessageRefused when a retry is useless, MessagingUnavailable otherwise. */
export interface Chat {
  /** Posts Slack markup to an incoming webhook. */
  post(url: Sensitive, text: string, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** A plain-text e-mail to one address. */
export interface MailMessage {
  /** The same for every attempt: mail programs show a repetition once. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** A mail server, with the same errors as the chat. */
export interface Mail {
  /** @param password of the settings' user, if any */
  send(message: MailMessage, password: Sensitive | undefined, signal: AbortSignal): Promise<void>;
}

/** The message will never be accepted. Its sentence holds no address or credential. */
export class MessageRefused extends Error {
  override readonly name = "MessageRefused";
}

/** The message was not accepted now. Its sentence holds no address or credential. */
export class MessagingUnavailable extends Error {
  override readonly name = "MessagingUnavailable";
  /** The other side's `Retry-After`. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { retryAfterMs, ...options }: ErrorOptions & { readonly retryAfterMs?: number } = {}) {
    super(message, options);
    this.retryAfterMs = retryAfterMs;
  }
}

import type { Sensitive } from "../../../crds/sensitive.ts";

export interface Chat {
  /**
   * Posts Slack markup to an incoming webhook.
   *
   * @throws MessageRefused when a retry is useless, MessagingUnavailable otherwise
   */
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

export interface Mail {
  /**
   * Passes the message to the mail server.
   *
   * @param password of the settings' user, if any
   * @throws MessageRefused when a retry is useless, MessagingUnavailable otherwise
   */
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

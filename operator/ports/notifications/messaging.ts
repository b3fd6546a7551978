import type { Sensitive } from "../../../crds/sensitive.ts";

/** Writes to chat channels. */
export interface Chat {
  /**
   * Posts a text, in the markup of Slack, to the address of an incoming webhook.
   *
   * @throws MessageRefused when trying again is useless, MessagingUnavailable otherwise
   */
  post(url: Sensitive, text: string, signal: AbortSignal): Promise<void>;

  /** Ends its connections. */
  close(): Promise<void>;
}

/** An e-mail in plain text to one address. */
export interface MailMessage {
  /** The same for every attempt: mail programs show a repetition once. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends e-mails. */
export interface Mail {
  /**
   * Hands the message over to the mail server.
   *
   * @param password of the user of the settings, if they name one
   * @throws MessageRefused when trying again is useless, MessagingUnavailable otherwise
   */
  send(message: MailMessage, password: Sensitive | undefined, signal: AbortSignal): Promise<void>;
}

/** The message will never be accepted. Its sentence holds no address and no credential. */
export class MessageRefused extends Error {
  override readonly name = "MessageRefused";
}

/** The message was not accepted now. Its sentence holds no address and no credential. */
export class MessagingUnavailable extends Error {
  override readonly name = "MessagingUnavailable";
  /** How long the other side asks to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { retryAfterMs, ...options }: ErrorOptions & { readonly retryAfterMs?: number } = {}) {
    super(message, options);
    this.retryAfterMs = retryAfterMs;
  }
}

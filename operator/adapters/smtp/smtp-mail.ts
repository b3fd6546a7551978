import type { SmtpSettings } from "../../../config/notifications.schema.ts";
import type { Sensitive } from "../../../crds/sensitive.ts";
import { type Mail, type MailMessage, MessageRefused, MessagingUnavailable } from "../../ports/notifications.ts";

const TIMEOUT_MS = 15_000;
const LOOPBACK: readonly string[] = ["localhost", "127.0.0.1", "::1"];

interface SmtpMailOptions extends Omit<SmtpSettings, "caFile" | "passwordRef"> {
  /** CA of the server's certificate, in PEM. */
  readonly ca?: string | undefined;
  readonly timeoutMs?: number;
}

/**
 * Mail port over SMTP: one connection per message, because there are few. Passwords and warnings must stay
 * confidential: without TLS nothing is sent, except on loopback.
 */
export function smtpMail(options: SmtpMailOptions): Mail {
  return {
    async send(message, password, signal) {
      // Loaded by the first mail: most platforms send none, and its modules are many.
      const { createTransport } = await import("nodemailer");
      const transport = createTransport(transportOptions(options, password));
      const cut = () => transport.close();
      signal.throwIfAborted();
      signal.addEventListener("abort", cut, { once: true });
      try {
        await transport.sendMail(envelopeOf(message, options.from));
      } catch (cause) {
        throw failureOf(cause);
      } finally {
        signal.removeEventListener("abort", cut);
        transport.close();
      }
    },
  };
}

function transportOptions(
  { host, port, secure, user, ca, timeoutMs = TIMEOUT_MS }: SmtpMailOptions,
  password?: Sensitive,
) {
  return {
    host,
    port,
    secure,
    requireTLS: !secure && !LOOPBACK.includes(host),
    ...(ca === undefined ? {} : { tls: { ca } }),
    ...(user === undefined ? {} : { auth: { user, pass: password?.reveal() ?? "" } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** The recipient as a value: in a text, a comma would begin another one. */
function envelopeOf({ id, to, subject, text }: MailMessage, from: string) {
  return {
    from: { name: "", address: from },
    to: { name: "", address: to },
    subject,
    text,
    messageId: `<${id}@${from.slice(from.lastIndexOf("@") + 1)}>`,
    headers: { "Auto-Submitted": "auto-generated" },
  };
}

/** A 5xx reply is final (https://www.rfc-editor.org/rfc/rfc5321.html#section-4.2.1), except for a repairable log-in. */
function failureOf(cause: unknown): Error {
  const { responseCode, code } = cause as { responseCode?: number; code?: string };
  const isFinal = responseCode !== undefined && responseCode >= 500 && code !== "EAUTH";
  if (isFinal || code === "EENVELOPE") return refusal(responseCode, cause);
  const said = responseCode === undefined ? (code ?? "no answer") : `answered ${responseCode}`;
  return new MessagingUnavailable(`the mail server can't be used (${said})`, { cause });
}

function refusal(responseCode: number | undefined, cause: unknown): Error {
  if (responseCode !== undefined && responseCode < 500) {
    return new MessagingUnavailable(`the mail server answered ${responseCode}`, { cause });
  }
  return new MessageRefused(`the mail server refused the message (${responseCode ?? "its recipient"})`, { cause });
}

import type { Sensitive } from "../../../../../crds/sensitive.ts";
import {
  type Chat,
  type Mail,
  type MailMessage,
  MessageRefused,
  MessagingUnavailable,
} from "../../../../../operator/ports/notifications.ts";

export type Mood = "takes" | "refuses" | "fails" | { readonly retryAfterSeconds: number };

interface Moody {
  be(mood: Mood): void;
}

function moods() {
  let mood: Mood = "takes";
  return {
    be(next: Mood) {
      mood = next;
    },
    check() {
      if (mood === "refuses") throw new MessageRefused("it refuses the message");
      if (mood === "fails") throw new MessagingUnavailable("it fails");
      if (mood !== "takes") {
        throw new MessagingUnavailable("it asks to wait", { retryAfterMs: mood.retryAfterSeconds * 1000 });
      }
    },
  };
}

export interface MemoryChat extends Chat, Moody {
  /** Posted messages and their addresses. */
  readonly posted: readonly { readonly url: string; readonly text: string }[];
}

export function memoryChat(): MemoryChat {
  const { be, check } = moods();
  const posted: { url: string; text: string }[] = [];
  return {
    be,
    posted,
    async post(url: Sensitive, text, signal) {
      signal.throwIfAborted();
      check();
      posted.push({ url: url.reveal(), text });
    },
    close: async () => undefined,
  };
}

export interface MemoryMail extends Mail, Moody {
  readonly sent: readonly (MailMessage & { readonly password?: string })[];
}

export function memoryMail(): MemoryMail {
  const { be, check } = moods();
  const sent: (MailMessage & { password?: string })[] = [];
  return {
    be,
    sent,
    async send(message, password, signal) {
      signal.throwIfAborted();
      check();
      sent.push({ ...message, ...(password === undefined ? {} : { password: password.reveal() }) });
    },
  };
}

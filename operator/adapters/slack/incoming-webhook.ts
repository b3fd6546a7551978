import { Agent, request } from "undici";
import { isSafeAddress } from "../../../crds/addresses.ts";
import { HOUR_MS } from "../../../crds/durations.ts";
import type { Sensitive } from "../../../crds/sensitive.ts";
import { errorCode } from "../../kit/error-code.ts";
import { type Chat, MessageRefused, MessagingUnavailable } from "../../ports/notifications.ts";

const TIMEOUT_MS = 10_000;
/** Longer waits are ignored. */
const LONGEST_WAIT_MS = HOUR_MS;
/** Statuses unrelated to the message: a timeout, too early, too many. */
const PASSING = [408, 425, 429];

/**
 * Chat port over Slack's incoming webhooks, which other chats accept too
 * (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/). Redirects are not followed: the address
 * is a credential, and the message is for it alone.
 */
export function incomingWebhookChat({ timeoutMs = TIMEOUT_MS } = {}): Chat {
  const agent = new Agent({ connections: 4, connect: { timeout: timeoutMs } });
  return {
    post: async (url, text, signal) => post(addressOf(url), text, { agent, signal, timeoutMs }),
    close: () => agent.close(),
  };
}

function addressOf(url: Sensitive): URL {
  // Editors and shells add a line break.
  const text = url.reveal().trim();
  const address = URL.canParse(text) ? new URL(text) : undefined;
  if (address === undefined || !isSafeAddress(address)) {
    throw new MessageRefused("the address of the channel's webhook is neither https nor http on loopback");
  }
  return address;
}

interface PostOptions {
  readonly agent: Agent;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

async function post(address: URL, text: string, { agent, signal, timeoutMs }: PostOptions): Promise<void> {
  const reply = await request(address, {
    method: "POST",
    dispatcher: agent,
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text, link_names: false, unfurl_links: false }),
  }).catch((cause: unknown) => {
    throw new MessagingUnavailable(`the chat does not answer (${errorCode(cause)})`, { cause });
  });
  // The body is useless; a long one ends the connection instead of being read.
  await reply.body.dump({ limit: 16_384 }).catch(() => undefined);
  const { statusCode } = reply;
  if (statusCode < 300) return;
  const sentence = `the chat answered ${statusCode}`;
  if (statusCode < 500 && !PASSING.includes(statusCode)) throw new MessageRefused(sentence);
  throw new MessagingUnavailable(sentence, retryAfter(reply.headers["retry-after"]));
}

/**
 * The header in seconds, https://www.rfc-editor.org/rfc/rfc9110.html#name-retry-after; for a date our own delays apply.
 */
function retryAfter(header: string | string[] | undefined): { retryAfterMs?: number } {
  const seconds = Number(header);
  return seconds > 0 ? { retryAfterMs: Math.min(seconds * 1000, LONGEST_WAIT_MS) } : {};
}

import { type Clock, pause } from "../../kit/time/clock.ts";
import { type IdentityProvider, IdentityProviderUnavailable } from "../../ports/api/identity-provider.ts";

/** Longer answers are useless, and not read. */
const MAX_ANSWER_BYTES = 65_536;
const TIMEOUT_MS = 5_000;
const PAUSES_MS = [1_000, 5_000];

/** Failures before a connection: nothing was sent. */
const UNCONNECTED = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/**
 * One POST of JSON, with a deadline of 5 s and without redirects: the content is for this address alone. The answer's
 * body is parsed if it is JSON.
 *
 * @throws IdentityProviderUnavailable without an answer, or when it is longer than any expected one
 */
export async function post(
  url: string,
  { headers = {}, body, signal }: { headers?: Record<string, string>; body: object; signal: AbortSignal },
): Promise<{ readonly status: number; readonly body: unknown }> {
  try {
    const reply = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body),
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    return { status: reply.status, body: parsed(await boundedText(reply)) };
  } catch (cause) {
    if (cause instanceof IdentityProviderUnavailable) throw cause;
    throw new IdentityProviderUnavailable("the identity provider can't be reached", {
      cause,
      mayAskAgain: isUnconnected(cause),
    });
  }
}

/** True for a provider's own failure: it did nothing, and may succeed soon. */
export function isPassing(status: number): boolean {
  return status === 429 || status >= 500;
}

/** `fetch` wraps the connection's error. */
function isUnconnected(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: string } };
  return cause?.code !== undefined && UNCONNECTED.has(cause.code);
}

async function boundedText(reply: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of reply.body ?? []) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new IdentityProviderUnavailable("the identity provider's answer is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Retries twice, after one second and after five more, where the provider surely sent nothing: no user waits for the answer.
 * No retry where the provider may have sent a link, so that one request is one mail.
 */
export function retryingIdentityProvider(provider: IdentityProvider, clock: Clock): IdentityProvider {
  return {
    async sendPasswordReset(email, signal) {
      for (const pauseMs of PAUSES_MS) {
        try {
          return await provider.sendPasswordReset(email, signal);
        } catch (error) {
          if (signal.aborted || !mayAskAgain(error)) throw error;
          await pause(clock, pauseMs, signal);
        }
      }
      return provider.sendPasswordReset(email, signal);
    },
  };
}

function mayAskAgain(error: unknown): boolean {
  return error instanceof IdentityProviderUnavailable && error.mayAskAgain;
}

/**
 * Identity provider of the local cluster: `POST <issuer>/password-reset` with `{email}`, answered 202 for every
 * address.
 */
export function localIdentityProvider(issuer: string): IdentityProvider {
  return {
    async sendPasswordReset(email, signal) {
      const { status } = await post(`${issuer}/password-reset`, { body: { email }, signal });
      if (status === 202) return;
      const message = `the identity provider answered ${status}`;
      throw new IdentityProviderUnavailable(message, { mayAskAgain: isPassing(status) });
    },
  };
}

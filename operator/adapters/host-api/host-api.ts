import { Octokit } from "@octokit/core";
import { throttling } from "@octokit/plugin-throttling";
import NodeCache from "node-cache";
import { Agent, Response, fetch as undiciFetch } from "undici";
import type { RepositoryHostSettings } from "../../../config/webhooks.schema.ts";
import type { SecretRef } from "../../../crds/overrides.schema.ts";
import { present } from "../../../crds/present.ts";
import { textOf } from "../../../crds/secret-text.ts";
import type { Sensitive } from "../../../crds/sensitive.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { HostApi, HostRequest, HostTechnology, RequestValues } from "../../ports/host-technology.ts";
import type { SecretReader } from "../../ports/secret-manager.ts";
import { PullRequestHostFailed } from "../../ports/webhooks/pull-request-host.ts";
import { conditional, type Fetch } from "./conditional-requests.ts";
import type { HostCallCounter } from "./host-calls.ts";

interface HostConnection {
  readonly host: Pick<RepositoryHostSettings, "id" | "apiUrl">;
  readonly technology: HostTechnology;
  /** The authority behind its certificate, in PEM. */
  readonly ca?: string | undefined;
  /** @throws when it is unreadable */
  readonly token: () => Promise<Sensitive>;
  readonly clock: Clock;
  readonly calls: HostCallCounter;
}

const NOT_MODIFIED = 304;
const CALL_DEADLINE_MS = 10_000;
const ANSWER_LIMIT_BYTES = 8 * 1024 * 1024;
/** A refusal gives its reason in a line. */
const REFUSAL_LIMIT_BYTES = 64 * 1024;
const REFUSAL_LIMIT_CHARACTERS = 200;

/** "Otherwise, wait for at least one minute." */
const UNSAID_LIMIT_MS = 60_000;

/** Headers of rate limits: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api */
interface RefusedCall {
  readonly status: number;
  readonly message: string;
  readonly response?: {
    readonly headers: Readonly<Record<string, string | number | undefined>>;
    readonly data?: unknown;
  };
}

/**
 * The API of a host of the settings; no other address is called, and no redirect is followed. Writes are spaced where
 * the host wants it, a host that names a time to come back, or whose budget is used up, is left alone until then, and what is
 * read again is only asked for changes. A call that fails is not repeated here: its reconcile is.
 */
export function hostApi({ host, technology, ca, token, clock, calls }: HostConnection): HostApi {
  const agent = new Agent({
    connections: 8,
    connect: { timeout: 5_000, ...present({ ca }) },
    maxResponseSize: ANSWER_LIMIT_BYTES,
  });
  const octokit = new (Octokit.plugin(throttling))({
    baseUrl: host.apiUrl.replace(/\/+$/, ""),
    userAgent: "ephemeral-environments",
    log: SILENT,
    request: { fetch: conditional(boundFetch(calls.counted(undiciFetch), agent)) },
    throttle: { enabled: technology.spacesWrites, id: host.id, onRateLimit: never, onSecondaryRateLimit: never },
  });
  let limitedUntilMs = Number.NEGATIVE_INFINITY;
  const send = async (route: string, values: RequestValues, signal: AbortSignal) => {
    signal.throwIfAborted();
    const leftMs = Math.max(limitedUntilMs - clock.monotonicMs(), calls.usedUpMs(clock.now()));
    if (leftMs > 0) throw new PullRequestHostFailed(`host '${host.id}' limits its calls`, { retryAfterMs: leftMs });
    const headers = { authorization: `Bearer ${(await token()).reveal()}` };
    try {
      return await octokit.request(route, { ...values, headers, request: { signal } });
    } catch (error) {
      const refused = error as RefusedCall;
      const limitedMs = retryAfterMs(refused, clock.now());
      if (limitedMs !== undefined) {
        limitedUntilMs = clock.monotonicMs() + limitedMs;
        calls.limited();
      }
      const isAnswered = refused.response !== undefined;
      throw new PullRequestHostFailed(`${route} of host '${host.id}' failed: ${reasonOf(refused)}`, {
        retryAfterMs: limitedMs,
        ...(isAnswered ? { status: refused.status } : { cause: error }),
      });
    }
  };
  return {
    request: async <T>(...call: Parameters<HostRequest>) => (await send(...call)).data as T,
    async page<T>(...call: Parameters<HostRequest>) {
      const { data, headers } = await send(...call);
      return { items: data as T, next: nextCursor(headers.link) };
    },
    close: () => agent.close(),
  };
}

/** Cursor in `<https://api.github.com/…?cursor=v1_12>; rel="next"`, https://datatracker.ietf.org/doc/html/rfc8288. */
function nextCursor(link: string | undefined): string | undefined {
  const address = /<([^>]+)>; *rel="next"/.exec(link ?? "")?.[1] ?? "";
  return (URL.canParse(address) && new URL(address).searchParams.get("cursor")) || undefined;
}

/** Asks for no retry: no call queues until the host's stated retry time. */
const never = () => false;
const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

function boundFetch(fetch: Fetch, dispatcher: Agent): Fetch {
  return async (url, options) => {
    const deadline = AbortSignal.timeout(CALL_DEADLINE_MS);
    const signal = options?.signal ? AbortSignal.any([options.signal, deadline]) : deadline;
    const reply = await fetch(url, { ...options, dispatcher, redirect: "manual", signal });
    if (reply.status >= 400) return bounded(reply);
    if (reply.status < 300 || reply.status === NOT_MODIFIED) return reply;
    await reply.body?.cancel();
    throw new Error(`it redirects with ${reply.status}: correct the name of the repository, or apiUrl of the settings`);
  };
}

/** The response with the beginning of its body; the rest is not read. */
async function bounded(reply: Response): Promise<Response> {
  const chunks: Uint8Array[] = [];
  let leftBytes = REFUSAL_LIMIT_BYTES;
  for await (const chunk of reply.body ?? []) {
    chunks.push(chunk.subarray(0, leftBytes));
    leftBytes -= chunk.length;
    if (leftBytes <= 0) break;
  }
  return new Response(Buffer.concat(chunks), { status: reply.status, headers: reply.headers });
}

/** The host's own reason, if given: any other body may be a proxy's page or confidential. */
function reasonOf({ status, message, response }: RefusedCall): string {
  if (response === undefined) return message;
  const { message: said, error } = (response.data ?? {}) as { readonly message?: unknown; readonly error?: unknown };
  const reason = [said, error].find((one) => typeof one === "string");
  return reason === undefined
    ? `it answered ${status}`
    : `it answered ${status}: ${reason.slice(0, REFUSAL_LIMIT_CHARACTERS)}`;
}

/** Milliseconds until the host's retry time; `undefined` without rate limiting. */
function retryAfterMs({ status, message, response }: RefusedCall, now: Date): number | undefined {
  const headers = response?.headers ?? {};
  const after = Number(headers["retry-after"]);
  if (after > 0) return after * 1000;
  const reset = Number(headers["x-ratelimit-reset"]);
  const isUsedUp = String(headers["x-ratelimit-remaining"]) === "0" && reset > 0;
  if (isUsedUp) return Math.max(1000, reset * 1000 - now.getTime());
  return status === 429 || /secondary rate limit/i.test(message) ? UNSAID_LIMIT_MS : undefined;
}

/** HTTP status of a failed call; `undefined` without a response. */
export function answeredStatus(error: unknown): number | undefined {
  return error instanceof PullRequestHostFailed ? error.status : undefined;
}

/** Awaits a call; answers `undefined` for 404. */
export async function unlessAbsent<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (answeredStatus(error) === 404) return undefined;
    throw error;
  }
}

/** A replaced token is used after this time. */
const TOKEN_CACHED_SECONDS = 60;

/** Reads hosts' tokens from the secret manager. The function throws PullRequestHostFailed for a token that it does not have. */
export function hostTokens(secretManager: SecretReader) {
  const known = new NodeCache({ stdTTL: TOKEN_CACHED_SECONDS, useClones: false });
  return async (ref: SecretRef): Promise<Sensitive> => {
    const id = `${ref.name}@${ref.key}`;
    const cached = known.get<Sensitive>(id);
    if (cached !== undefined) return cached;
    const token = await textOf(ref, secretManager).catch((cause: Error) => {
      throw new PullRequestHostFailed(`the host's token can't be read: ${cause.message}`, { cause });
    });
    if (token === undefined) throw new PullRequestHostFailed(`the secret manager has no '${id}': create it`);
    known.set(id, token);
    return token;
  };
}

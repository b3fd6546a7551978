import type { Request, Response } from "express";
import { type AugmentedRequest, ipKeyGenerator, type RateLimitRequestHandler, rateLimit } from "express-rate-limit";
import type { Settings } from "../../config/settings.ts";
import { HOUR_MS, MINUTE_MS } from "../../crds/durations.ts";
import type { Counter } from "../../operator/ports/api/shared-counters.ts";
import { HttpError } from "../errors.ts";
import { type CounterParts, FallbackStore } from "./fallback-store.ts";

/** IPv6 networks are assigned in this size: a client can change its address within one. */
const IPV6_SUBNET = 56;
const LIMIT_HEADERS = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

/** Default number of an owner's credentials that may use up their limits at a time. */
const OWNER_FACTOR = 5;

/** Rate limits: authenticated callers by identity, others by client address. */
const LIMITS = {
  /** Requests with a credential: an API token, or a person's ID tokens. */
  credential: { setting: "authenticatedPerMinute", windowMs: MINUTE_MS },
  /** Requests of a person with any credential. */
  owner: { setting: "ownerPerMinute", windowMs: MINUTE_MS },
  /** Requests without a credential, or with a refused one. */
  unauthenticated: { setting: "unauthenticatedPerMinute", windowMs: MINUTE_MS },
  /** Pages of the documentation, and their parts. */
  documentation: { setting: "documentationPerMinute", windowMs: MINUTE_MS },
  /** The console, the command line's program, and login options. */
  page: { setting: "pagesPerMinute", windowMs: MINUTE_MS },
  /** Webhooks without authentication. */
  webhook: { setting: "webhooksPerMinute", windowMs: MINUTE_MS },
  /** Verified webhooks of a repository. */
  sender: { setting: "webhooksPerProjectPerMinute", windowMs: MINUTE_MS },
  /** Refused webhooks of hosts. */
  refusedWebhook: { setting: "refusedWebhooksPerMinute", windowMs: MINUTE_MS },
  /** Requests for a new password, beside the other limits. */
  passwordReset: { setting: "passwordResetsPerHour", windowMs: HOUR_MS },
} as const satisfies Record<string, { setting: keyof Settings["api"]["limits"]; windowMs: number }>;

/**
 * Counts one request of a key, by default the client address. Sets the `X-RateLimit-*` headers and throws HttpError
 * (rate-limited) beyond the limit.
 */
type Spend = (request: Request, response: Response, key?: string) => Promise<void>;

interface CountedCaller {
  readonly subject: string;
  /** An API token; `undefined` for an ID token. */
  readonly token?: { readonly id: string };
}

export interface Limits extends Readonly<Record<Exclude<keyof typeof LIMITS, "credential" | "owner">, Spend>> {
  /**
   * Counts one request of a caller, by credential and owner. The `X-RateLimit-*` headers are the nearer limit's. A
   * request beyond the credential's limit does not count for the owner.
   *
   * @throws HttpError (rate-limited)
   */
  authenticated(request: Request, response: Response, caller: CountedCaller): Promise<void>;
  /**
   * Refuses a webhook, unread, of a client address at its limit of refused webhooks in this process.
   *
   * @throws HttpError (rate-limited)
   */
  checkRefusedWebhooks(request: Request, response: Response): Promise<void>;
  /** True for a client address at its limit of unauthenticated requests in this process. */
  isSpent(request: Request): boolean;
}

/** Limits of the settings, over fixed windows. */
export function createLimits(limits: Settings["api"]["limits"], parts: CounterParts): Limits {
  const storeOf = (name: keyof typeof LIMITS) => new FallbackStore({ name, windowMs: LIMITS[name].windowMs }, parts);
  const spender = (name: Exclude<keyof typeof LIMITS, "owner">, store = storeOf(name)): Spend =>
    spending(limits[LIMITS[name].setting], store);
  const unauthenticated = storeOf("unauthenticated");
  const refusedWebhooks = storeOf("refusedWebhook");
  const refusedWebhook = spender("refusedWebhook", refusedWebhooks);
  const credential = spender("credential");
  const ownerPerMinute = limits.ownerPerMinute ?? limits.authenticatedPerMinute * OWNER_FACTOR;
  const owner = spending(ownerPerMinute, storeOf("owner"));
  return {
    isSpent: (request) => unauthenticated.total(clientAddress(request)) >= limits.unauthenticatedPerMinute,
    async authenticated(request, response, { subject, token }) {
      await credential(request, response, token?.id ?? subject);
      const ofCredential = limitHeaders(response);
      await owner(request, response, subject);
      if (remaining(ofCredential) <= remaining(limitHeaders(response))) response.set(ofCredential);
    },
    unauthenticated: spender("unauthenticated", unauthenticated),
    documentation: spender("documentation"),
    page: spender("page"),
    webhook: spender("webhook"),
    sender: spender("sender"),
    refusedWebhook,
    async checkRefusedWebhooks(request, response) {
      const refused = refusedWebhooks.total(clientAddress(request));
      if (refused >= limits.refusedWebhooksPerMinute) await refusedWebhook(request, response);
    },
    passwordReset: spender("passwordReset"),
  };
}

/** Counts a key's requests in an hour, with this one, without headers. */
export function hourlyCount(name: string, parts: CounterParts): (key: string) => Promise<number> {
  const store = new FallbackStore({ name, windowMs: HOUR_MS }, parts);
  return async (key) => (await store.increment(key)).totalHits;
}

function spending(limit: number, store: FallbackStore): Spend {
  const keys = new WeakMap<Request, string>();
  const limiter = rateLimit({
    windowMs: store.counter.windowMs,
    limit,
    store,
    keyGenerator: (request) => keys.get(request) ?? clientAddress(request),
    legacyHeaders: true,
    standardHeaders: false,
    // An untrusted forwarded address is ignored on purpose; the library would warn on standard error.
    validate: { xForwardedForHeader: false, forwardedHeader: false },
    handler: (request, response, next) => {
      const used = (request as AugmentedRequest).rateLimit?.used ?? 0;
      next(tooMany(response, store.counter, used > limit + 1));
    },
  });
  return (request, response, key) => {
    if (key !== undefined) keys.set(request, key);
    return spend(limiter, request, response);
  };
}

function limitHeaders(response: Response): Record<string, string> {
  return Object.fromEntries(LIMIT_HEADERS.map((name) => [name, String(response.getHeader(name))]));
}

const remaining = (headers: Readonly<Record<string, string>>) => Number(headers["X-RateLimit-Remaining"]);

/** Key of a client address: IPv4 in either form, IPv6 by its network. */
export const countedAddress = (address = "") => ipKeyGenerator(address, IPV6_SUBNET);
const clientAddress = (request: Request) => countedAddress(request.ip);

function tooMany(response: Response, { windowMs }: Counter, isRepetition: boolean): HttpError {
  const seconds = Number(response.getHeader("Retry-After"));
  return new HttpError("rate-limited", "Too many requests", {
    retryAfterSeconds: Number.isFinite(seconds) && seconds > 0 ? seconds : windowMs / 1000,
    isRepetition,
  });
}

function spend(limiter: RateLimitRequestHandler, request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    const settled = limiter(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
    Promise.resolve(settled).catch(reject);
  });
}

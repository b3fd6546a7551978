import type { Request, Response } from "express";
import {
  type AugmentedRequest,
  type IncrementResponse,
  ipKeyGenerator,
  type RateLimitRequestHandler,
  rateLimit,
  type Store,
} from "express-rate-limit";
import type { Settings } from "../../config/settings.ts";
import type { Clock } from "../../operator/ports/clock.ts";
import type { Counter, SharedCounters } from "../../operator/ports/facade/shared-counters.ts";
import { HttpError } from "../http-error.ts";
import { type MemoryStore, memoryStore } from "./memory-store.ts";

/** IPv6 networks are handed out by this much: within one, addresses can be changed at will. */
const IPV6_SUBNET = 56;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** The budgets of decisions on limits: who is known spends by identity, everybody else by client address. */
const CLASSES = {
  /** A known caller's: keyed by who it is. */
  authenticated: { setting: "authenticatedPerMinute", windowMs: MINUTE_MS },
  /** Spent by requests without a credential, or with a refused one. */
  unauthenticated: { setting: "unauthenticatedPerMinute", windowMs: MINUTE_MS },
  /** Pages of the documentation, and their parts. */
  documentation: { setting: "documentationPerMinute", windowMs: MINUTE_MS },
  /** Wishes for a new password, beside what they spend anyway. */
  passwordReset: { setting: "passwordResetsPerHour", windowMs: HOUR_MS },
} as const satisfies Record<string, { setting: keyof Settings["api"]["limits"]; windowMs: number }>;

/**
 * Spends one request of a budget: the key's, or the client address's where none is given. Sets the `X-RateLimit-*`
 * headers and throws Refusal (rate-limited) when the budget is spent.
 */
type Spend = (request: Request, response: Response, key?: string) => Promise<void>;
export interface Limits extends Readonly<Record<keyof typeof CLASSES, Spend>> {
  /** Whether this process has counted all that the client address may ask for without a good credential. */
  isSpent(request: Request): boolean;
}

/** What the counters are made with. */
export interface LimitParts {
  readonly clock: Clock;
  /** Where replicas count together; without it, and while it is away, each counts for itself. */
  readonly counters?: SharedCounters | undefined;
}

/** The budgets that the settings give, over fixed windows. */
export function createLimits(limits: Settings["api"]["limits"], parts: LimitParts): Limits {
  const storeOf = (name: keyof typeof CLASSES) => new FallbackStore({ name, windowMs: CLASSES[name].windowMs }, parts);
  const spender = (name: keyof typeof CLASSES, store = storeOf(name)): Spend =>
    spending(limits[CLASSES[name].setting], store);
  const unknowns = storeOf("unauthenticated");
  return {
    isSpent: (request) => unknowns.total(clientAddress(request)) >= limits.unauthenticatedPerMinute,
    authenticated: spender("authenticated"),
    unauthenticated: spender("unauthenticated", unknowns),
    documentation: spender("documentation"),
    passwordReset: spender("passwordReset"),
  };
}

/** Counts a key's share of an hour, with this time, where no header may tell of it. */
export function hourlyTally(name: string, parts: LimitParts): (key: string) => Promise<number> {
  const store = new FallbackStore({ name, windowMs: HOUR_MS }, parts);
  return async (key) => (await store.increment(key)).totalHits;
}

function spending(limit: number, store: FallbackStore): Spend {
  const keys = new WeakMap<Request, string>();
  const budget = rateLimit({
    windowMs: store.counter.windowMs,
    limit,
    store,
    keyGenerator: (request) => keys.get(request) ?? clientAddress(request),
    legacyHeaders: true,
    standardHeaders: false,
    // A forwarded address that is not trusted is ignored, which is meant; the library would warn on standard error.
    validate: { xForwardedForHeader: false, forwardedHeader: false },
    handler: (request, response, next) => {
      const used = (request as AugmentedRequest).rateLimit?.used ?? 0;
      next(tooMany(response, store.counter, used > limit + 1));
    },
  });
  return (request, response, key) => {
    if (key !== undefined) keys.set(request, key);
    return spend(budget, request, response);
  };
}

/** An address as it is counted by: IPv4 also in its IPv6 form, IPv6 by its network. */
export const countedAddress = (address = "") => ipKeyGenerator(address, IPV6_SUBNET);
const clientAddress = (request: Request) => countedAddress(request.ip);

/**
 * Counts where all replicas do, and goes on alone while that is away. Own counters run along all the time: nobody gets a
 * fresh budget because the shared ones went away.
 */
class FallbackStore implements Store {
  readonly counter: Counter;
  readonly prefix: string;
  readonly #own: MemoryStore;
  readonly #shared: SharedCounters | undefined;

  constructor(counter: Counter, { clock, counters }: LimitParts) {
    this.counter = counter;
    this.prefix = counter.name;
    this.#own = memoryStore(clock, counter);
    this.#shared = counters;
  }

  async increment(key: string): Promise<IncrementResponse> {
    const own = this.#own.increment(key);
    const shared = await this.#shared?.increment(this.counter, key).catch(() => undefined);
    if (shared !== undefined) return { totalHits: shared.total, resetTime: shared.endsAt };
    // The library subtracts the machine's time from it.
    return { totalHits: own.total, resetTime: new Date(Date.now() + own.leftMs) };
  }

  /** Requests of a key in its window, as far as this process has counted them. */
  total(key: string): number {
    return this.#own.total(key);
  }

  /** The library asks for it where requests are counted by their outcome: none is. */
  decrement(): void {}

  resetKey(): void {}
}

function tooMany(response: Response, { windowMs }: Counter, isRepetition: boolean): HttpError {
  const seconds = Number(response.getHeader("Retry-After"));
  return new HttpError("rate-limited", "Too many requests", {
    retryAfterSeconds: Number.isFinite(seconds) && seconds > 0 ? seconds : windowMs / 1000,
    isRepetition,
  });
}

function spend(budget: RateLimitRequestHandler, request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    const settled = budget(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
    Promise.resolve(settled).catch(reject);
  });
}

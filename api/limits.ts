import type { Request, Response } from "express";
import { ipKeyGenerator, type RateLimitRequestHandler, rateLimit } from "express-rate-limit";
import type { Settings } from "../config/settings.ts";
import { Refusal } from "./refusals.ts";

/** IPv6 networks are handed out by this much: within one, addresses can be changed at will. */
const IPV6_SUBNET = 56;
const WINDOW_MS = 60_000;

/** The budgets of decisions on limits: who is known spends by identity, everybody else by client address. */
export interface Limits {
  /** Spends one request of the caller's budget. */
  authenticated(request: Request, response: Response, subject: string): Promise<void>;
  /** Spends one request without a credential, or with a refused one. */
  unauthenticated(request: Request, response: Response): Promise<void>;
  /** Spends one request for a page of the documentation, or a part of it. */
  documentation(request: Request, response: Response): Promise<void>;
}

/**
 * Counters of this process, over fixed windows of a minute. Every method sets the `X-RateLimit-*` headers and throws
 * Refusal (rate-limited) when the budget is spent.
 */
export function createLimits(limits: Settings["api"]["limits"]): Limits {
  const subjects = new WeakMap<Request, string>();
  const authenticated = limiter(limits.authenticatedPerMinute, (request) => subjects.get(request) ?? "");
  const unauthenticated = limiter(limits.unauthenticatedPerMinute, clientAddress);
  const documentation = limiter(limits.documentationPerMinute, clientAddress);
  return {
    authenticated: (request, response, subject) => {
      subjects.set(request, subject);
      return spend(authenticated, request, response);
    },
    unauthenticated: (request, response) => spend(unauthenticated, request, response),
    documentation: (request, response) => spend(documentation, request, response),
  };
}

const clientAddress = (request: Request) => ipKeyGenerator(request.ip ?? "", IPV6_SUBNET);

function limiter(limit: number, keyGenerator: (request: Request) => string): RateLimitRequestHandler {
  return rateLimit({
    windowMs: WINDOW_MS,
    limit,
    keyGenerator,
    legacyHeaders: true,
    standardHeaders: false,
    // A forwarded address that is not trusted is ignored, which is meant; the library would warn on standard error.
    validate: { xForwardedForHeader: false, forwardedHeader: false },
    handler: (_request, response, next) => next(tooMany(response)),
  });
}

function tooMany(response: Response): Refusal {
  const seconds = Number(response.getHeader("Retry-After"));
  return new Refusal("rate-limited", "Too many requests", {
    retryAfterSeconds: Number.isFinite(seconds) && seconds > 0 ? seconds : WINDOW_MS / 1000,
  });
}

function spend(budget: RateLimitRequestHandler, request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    const settled = budget(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
    Promise.resolve(settled).catch(reject);
  });
}

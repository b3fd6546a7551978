import type { ErrorRequestHandler, RequestHandler } from "express";
import { type AuthParts, countRequest } from "../auth/authorize.ts";
import { HttpError } from "../errors.ts";
import { currentRequest } from "../request-context.ts";

/*
 * Requests without a route. Each counts and carries the `X-RateLimit-*` headers: probing paths costs, and a failing
 * client learns when it may go on.
 */

/** Headers of which Node takes the first of several and a proxy perhaps the last. */
const SINGULAR = ["host", "content-type"] as const;

/** Refuses a request with ambiguous headers; goes before the routes. */
export function rejectAmbiguousHeaders(parts: AuthParts): RequestHandler {
  return async (request, response, next) => {
    const twice = SINGULAR.find((name) => (request.headersDistinct[name]?.length ?? 0) > 1);
    if (twice === undefined) return next();
    await countRequest(parts, request, response);
    throw new HttpError("malformed", `The header ${twice} is given twice`);
  };
}

/** Refuses a method that a path lacks; the header `Allow` names the others. For counted requests. */
export function otherMethod(allow: string): RequestHandler {
  return () => {
    throw new HttpError("method-not-allowed", "Method not allowed", { allow });
  };
}

/** Answers every method of a path except those in `allow`, the header `Allow`. */
export function methodNotAllowed(parts: AuthParts, allow: string): RequestHandler {
  const refuse = otherMethod(allow);
  return async (request, response, next) => {
    await countRequest(parts, request, response);
    refuse(request, response, next);
  };
}

/** Answers every path without a route; goes behind them. */
export function notFound(parts: AuthParts): RequestHandler {
  return async (request, response) => {
    await countRequest(parts, request, response);
    throw new HttpError("not-found", "Not found");
  };
}

/** Answers a path that can't be decoded, Express's URIError before any route. */
export function malformedPath(parts: AuthParts): ErrorRequestHandler {
  // Express recognises error handlers by the number of parameters.
  return async (error, request, response, next) => {
    if (!(error instanceof URIError) || currentRequest().contract !== undefined) return next(error);
    await countRequest(parts, request, response);
    throw new HttpError("malformed", "The path is not valid");
  };
}

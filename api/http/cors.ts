import type { RequestHandler } from "express";
import { HEADERS } from "./headers.ts";

/** Request headers that browsers don't allow by themselves. */
const REQUEST_HEADERS = ["Authorization", "Content-Type", "Idempotency-Key", "X-Request-ID", "Last-Event-ID"];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const RESPONSE_HEADERS = [...Object.keys(HEADERS), "Allow"];
/** Lifetime of a preflight's answer: origins change with a restart only. */
const MAX_AGE_SECONDS = 600;

const PREFLIGHT_HEADERS = {
  "Access-Control-Allow-Methods": METHODS.join(", "),
  "Access-Control-Allow-Headers": REQUEST_HEADERS.join(", "),
  "Access-Control-Max-Age": String(MAX_AGE_SECONDS),
};

/**
 * Lets pages of these origins, compared letter by letter, call the interface and read every answer of the app, refusals
 * too (https://fetch.spec.whatwg.org/#http-cors-protocol), but not the HTTP parser's. An empty list changes nothing.
 * Credentials are never allowed, because cookies play no part. A listed origin's preflight is answered before anything
 * is counted: browsers send one for each call.
 *
 * @param options.except paths that no origin may use
 */
export function cors(
  origins: readonly string[],
  { except }: { readonly except: (path: string) => boolean },
): RequestHandler[] {
  if (origins.length === 0) return [];
  const listed = new Set(origins);
  return [
    (request, response, next) => {
      if (except(request.path)) return next();
      response.vary("Origin");
      const origin = request.get("origin");
      if (origin === undefined || !listed.has(origin)) return next();
      response.set("Access-Control-Allow-Origin", origin);
      const isPreflight = request.method === "OPTIONS" && request.get("access-control-request-method") !== undefined;
      if (isPreflight) return void response.status(204).set(PREFLIGHT_HEADERS).end();
      response.set("Access-Control-Expose-Headers", RESPONSE_HEADERS.join(", "));
      next();
    },
  ];
}

import type { RequestHandler } from "express";
import { HEADERS } from "../openapi/responses.ts";

/** The contract's request headers that browsers don't allow by themselves. */
const REQUEST_HEADERS = ["Authorization", "Content-Type", "Idempotency-Key", "X-Request-ID", "Last-Event-ID"];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
/** The headers of an answer that a page may read. */
const RESPONSE_HEADERS = [...Object.keys(HEADERS), "Allow"];
/** How long a browser keeps a preflight's answer: origins change with a restart only. */
const MAX_AGE_SECONDS = 600;

const PREFLIGHT_HEADERS = {
  "Access-Control-Allow-Methods": METHODS.join(", "),
  "Access-Control-Allow-Headers": REQUEST_HEADERS.join(", "),
  "Access-Control-Max-Age": String(MAX_AGE_SECONDS),
};

/**
 * Lets web pages of these origins, compared letter by letter, call the interface and read every answer of the app, refusals
 * too; what the HTTP parser refuses never gets here
 * (https://fetch.spec.whatwg.org/#http-cors-protocol). Pages of all others get no leave, and nothing changes where the
 * list is empty. Cookies play no part, so that credentials are never allowed. A preflight of a listed origin is answered
 * here, before anything is counted: a browser sends one for each call that a page makes.
 *
 * @param options.except paths for which no origin gets leave, whatever is listed
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

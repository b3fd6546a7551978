import type { ErrorRequestHandler, RequestHandler } from "express";
import { auditedOf } from "../audit.ts";
import { type Admission, countRequest } from "../auth/authorize.ts";
import { HttpError } from "../http-error.ts";

/*
 * What no route answers. Each refusal counts as any other request does and carries the `X-RateLimit-*` headers: paths
 * can't be probed for free, and a client that goes wrong learns when it may go on.
 */

/** Of what Node would take the first in silence, and a proxy in front perhaps the last. */
const SINGULAR = ["host", "content-type"] as const;

/** Refuses a request whose headers two readers would read in two ways; goes before the routes. */
export function refuseAmbiguous(admission: Admission): RequestHandler {
  return async (request, response, next) => {
    const twice = SINGULAR.find((name) => (request.headersDistinct[name]?.length ?? 0) > 1);
    if (twice === undefined) return next();
    await countRequest(admission, request, response);
    throw new HttpError("malformed", `The header ${twice} is given twice`);
  };
}

/** Refuses every method of a path but those that `allow` names, as the header `Allow` does. */
export function refuseMethod(admission: Admission, allow: string): RequestHandler {
  return async (request, response) => {
    await countRequest(admission, request, response);
    throw new HttpError("method-not-allowed", "Method not allowed", { allow });
  };
}

/** Refuses every path that is left; goes behind the routes. */
export function refusePath(admission: Admission): RequestHandler {
  return async (request, response) => {
    await countRequest(admission, request, response);
    throw new HttpError("not-found", "Not found");
  };
}

/** Refuses a path that can't be decoded, which Express reports as a URIError before any route is served. */
export function refuseUndecodable(admission: Admission): ErrorRequestHandler {
  // Express tells this from other handlers by the number of its parameters.
  return async (error, request, response, next) => {
    if (!(error instanceof URIError) || auditedOf(response).contract !== undefined) return next(error);
    await countRequest(admission, request, response);
    throw new HttpError("malformed", "The path is not valid");
  };
}

import type { Request, RequestHandler } from "express";
import type { Limits } from "../limits/limits.ts";
import { checkSameOrigin } from "./same-origin.ts";
import type { Sessions } from "./sessions.ts";

/** Paths of the REST interface as the console's pages ask for them. */
const BEFORE = "/console/api/";
const PREFIX = "/console";

interface DoorParts {
  /** The console's own. */
  readonly origin: string;
  readonly sessions: Sessions;
  readonly limits: Limits;
}

/**
 * Makes a request of the console's pages one to the REST interface, with the ID token of the session where the page has the
 * cookie; from there on it is like any other request with that token. The interface itself never takes a cookie.
 */
export function apiDoor({ origin, sessions, limits }: DoorParts): RequestHandler {
  return async (request, response, next) => {
    if (!request.url.startsWith(BEFORE)) return next();
    try {
      checkSameOrigin(request, origin);
    } catch (error) {
      await limits.page(request, response);
      throw error;
    }
    const session = await sessions.read(request);
    replaceHeader(request, "cookie");
    replaceHeader(request, "authorization", session && `Bearer ${session.idToken.reveal()}`);
    request.url = request.url.slice(PREFIX.length);
    next();
  };
}

/** Node makes `headersDistinct` of what arrived when it is first asked for, and keeps it. */
function replaceHeader({ headers, headersDistinct }: Request, name: string, value?: string): void {
  delete headers[name];
  delete headersDistinct[name];
  if (value === undefined) return;
  headers[name] = value;
  headersDistinct[name] = [value];
}

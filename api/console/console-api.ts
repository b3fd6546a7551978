import type { Request, RequestHandler } from "express";
import type { Limits } from "../limits/limits.ts";
import { checkSameOrigin } from "./same-origin.ts";
import type { Sessions } from "./sessions.ts";

/** Prefix of the REST interface for the console's pages. */
const BEFORE = "/console/api/";
const PREFIX = "/console";

interface ConsoleApiOptions {
  /** The console's own. */
  readonly origin: string;
  readonly sessions: Sessions;
  readonly limits: Limits;
}

/**
 * Turns a request of the console's pages into one to the REST interface, with the session's ID token. The interface
 * itself takes no cookie.
 */
export function consoleApi({ origin, sessions, limits }: ConsoleApiOptions): RequestHandler {
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

/** Node computes `headersDistinct` once. */
function replaceHeader({ headers, headersDistinct }: Request, name: string, value?: string): void {
  delete headers[name];
  delete headersDistinct[name];
  if (value === undefined) return;
  headers[name] = value;
  headersDistinct[name] = [value];
}

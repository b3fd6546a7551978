import type { Request, RequestHandler, Response, Router } from "express";
import { HttpError } from "../errors.ts";
import { otherMethod } from "../http/unrouted.ts";
import { type ConsoleIssuer, IssuerUnusable } from "./issuer.ts";
import { beginLogIn, endLogIn, HOME, type LogInParts } from "./log-in.ts";
import { sendOnwards } from "./notice.ts";
import type { createRefresher } from "./refresher.ts";
import { checkSameOrigin } from "./same-origin.ts";
import type { Session } from "./sessions.ts";

export interface AuthParts extends LogInParts {
  readonly refresh: ReturnType<typeof createRefresher>;
}

/** Serves the session's person and end to the console's pages, never a token. */
export function mountAuth(router: Router, parts: AuthParts): void {
  const serve = (method: "get" | "post", path: string, handler: RequestHandler) => {
    const allow = method === "get" ? "GET, HEAD" : "POST";
    const route = router.route(`/console/auth/${path}`);
    route[method](handler);
    route.all(otherMethod(allow));
  };
  const ofPage =
    (answer: (request: Request, response: Response) => Promise<void>): RequestHandler =>
    async (request, response) => {
      checkSameOrigin(request, parts.settings.publicUrl);
      await answer(request, response);
    };
  serve("get", "login", (request, response) => beginLogIn(request, response, parts));
  serve("get", "callback", (request, response) => endLogIn(request, response, parts));
  serve(
    "get",
    "session",
    ofPage(async (request, response) => {
      const session = await parts.sessions.read(request);
      response.json(await personOf(session, parts));
    }),
  );
  serve(
    "post",
    "refresh",
    ofPage((request, response) => refresh(request, response, parts)),
  );
  serve(
    "post",
    "logout",
    ofPage((request, response) => logOut(request, response, parts)),
  );
  router.use("/console/auth", () => {
    throw new HttpError("not-found", "Not found");
  });
}

/** Checks the ID token as any caller's. Throws HttpError (unauthenticated). */
async function personOf(session: Session | undefined, { callerOf }: AuthParts) {
  if (session === undefined) throw new HttpError("unauthenticated", "Authentication required");
  const caller = await callerOf(session.idToken);
  if ("detail" in caller) throw new HttpError("unauthenticated", caller.detail);
  const { email, name, expiresAt } = caller;
  return { email, name, expires_at: expiresAt?.toISOString() };
}

async function refresh(request: Request, response: Response, parts: AuthParts): Promise<void> {
  const session = await parts.sessions.read(request);
  const followed = session && (await parts.refresh(session).catch(throwUnavailable));
  const exchange = { request, response };
  if (followed === undefined) {
    parts.sessions.end(exchange);
    throw new HttpError("unauthenticated", "Please log in again");
  }
  // Kept before the check, which may fail: the former refresh token may be used up.
  if (!(await parts.sessions.keep(exchange, followed))) throw new HttpError("unauthenticated", "Please log in again");
  response.json(await personOf(followed, parts));
}

/**
 * Ends the session here and at the issuer, whose page it leads to, and revokes the refresh token. By a page: the
 * console's policy forbids a form to redirect elsewhere.
 */
async function logOut(request: Request, response: Response, { sessions, issuer }: AuthParts): Promise<void> {
  const session = await sessions.read(request);
  sessions.end({ request, response });
  const [address] = await Promise.all([
    logoutUrlOf(issuer),
    session?.refreshToken === undefined ? undefined : issuer.revoke(session.refreshToken),
  ]);
  if (address === undefined) response.redirect(303, HOME);
  else sendOnwards(response, address);
}

/** The issuer's log-out address; `undefined` without the issuer: the person is logged out here all the same. */
const logoutUrlOf = (issuer: ConsoleIssuer) =>
  issuer.logoutUrl().catch((error: unknown) => {
    if (error instanceof IssuerUnusable) return undefined;
    throw error;
  });

function throwUnavailable(error: unknown): never {
  if (!(error instanceof IssuerUnusable)) throw error;
  throw new HttpError("unavailable", error.message, { retryAfterSeconds: 5, cause: error });
}

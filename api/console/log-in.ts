import type { Request, Response } from "express";
import { HOUR_MS } from "../../crds/durations.ts";
import type { Sensitive } from "../../crds/sensitive.ts";
import type { Log } from "../../operator/kit/log.ts";
import type { Clock } from "../../operator/kit/time/clock.ts";
import type { Caller } from "../auth/access.ts";
import { type CookieSpec, dropCookie, keepCookie, readCookie } from "./cookies.ts";
import { type ConsoleIssuer, type ConsoleSettings, IssuerRefused, IssuerUnusable, type LoginProof } from "./issuer.ts";
import { sendNotice } from "./notice.ts";
import type { Seal } from "./seal.ts";
import type { Session, Sessions } from "./sessions.ts";

const LOGIN_SECONDS = 600;
/** Browsers and proxies take longer ones, but no page of the console has such an address. */
const MAX_BACK_CHARS = 2_000;
export const HOME = "/console/";

/** Lax: the issuer's redirect has to carry it. */
const COOKIE: CookieSpec = { name: "__Host-console-login", sameSite: "Lax" };

export interface Login extends LoginProof {
  readonly back: string;
  /** End in milliseconds since 1970. */
  readonly ends: number;
}

export interface LogInParts {
  readonly settings: ConsoleSettings;
  readonly issuer: ConsoleIssuer;
  readonly seal: Seal<Login>;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly log: Log;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Caller of an ID token; a sentence for the person when it is refused. */
  readonly callerOf: (idToken: Sensitive) => Promise<Caller | { readonly detail: string }>;
}

/** Redirects to the issuer, and stores the log-in in the browser. Throws SecretsUnavailable. */
export async function beginLogIn(request: Request, response: Response, parts: LogInParts): Promise<void> {
  const text = () => Buffer.from(parts.randomBytes(32)).toString("base64url");
  const proof = { state: text(), nonce: text(), verifier: text() };
  const ends = parts.clock.now().getTime() + LOGIN_SECONDS * 1000;
  const login: Login = { ...proof, back: backOf(request, parts.settings.publicUrl), ends };
  try {
    const url = await parts.issuer.loginUrl(proof);
    keepCookie({ request, response }, COOKIE, await parts.seal.seal(login), LOGIN_SECONDS);
    response.redirect(303, url);
  } catch (error) {
    if (!(error instanceof IssuerUnusable)) throw error;
    sendNotice(response, 503, error.message);
  }
}

/** Handles the issuer's redirect: the browser then has a session. Throws SecretsUnavailable. */
export async function endLogIn(request: Request, response: Response, parts: LogInParts): Promise<void> {
  const login = await parts.seal.open(readCookie(request, COOKIE));
  dropCookie({ request, response }, COOKIE);
  const nowMs = parts.clock.now().getTime();
  if (login === undefined || login.ends <= nowMs) {
    return sendNotice(response, 400, "It has expired, or was begun in another browser. Please log in again.");
  }
  try {
    const tokens = await parts.issuer.exchange(queryOf(request), login);
    const endsAt = new Date(nowMs + parts.settings.sessionHours * HOUR_MS);
    await beginSession({ ...tokens, endsAt }, login.back, { request, response, parts });
  } catch (error) {
    if (error instanceof IssuerUnusable) return sendNotice(response, 503, error.message);
    if (!(error instanceof IssuerRefused)) throw error;
    parts.log.info("a log-in at the console was refused by the issuer", { code: error.code, error: error.cause });
    sendNotice(response, 400, `The identity provider refused it (${error.code}). Please log in again.`);
  }
}

async function beginSession(
  session: Session,
  back: string,
  { request, response, parts }: { readonly request: Request; readonly response: Response; readonly parts: LogInParts },
): Promise<void> {
  const caller = await parts.callerOf(session.idToken);
  if ("detail" in caller) return sendNotice(response, 403, caller.detail);
  if (!(await parts.sessions.keep({ request, response }, session))) {
    parts.log.warn("a session is too long for cookies", { subject: caller.subject });
    return sendNotice(
      response,
      403,
      "The identity provider says more of you than a browser keeps: ask for fewer groups in your ID token.",
    );
  }
  parts.log.info("logged in at the console", { subject: caller.subject });
  response.redirect(303, back);
}

/** Target after the log-in: only a page of the console, however it is spelt. */
function backOf(request: Request, origin: string): string {
  const requested = queryOf(request).get("back") ?? HOME;
  if (requested.length > MAX_BACK_CHARS || !URL.canParse(requested, origin)) return HOME;
  const url = new URL(requested, origin);
  const isPage =
    url.origin === origin && url.pathname.startsWith(HOME) && !/^\/console\/(api|auth)\//.test(url.pathname);
  return isPage ? `${url.pathname}${url.search}${url.hash}` : HOME;
}

/** A request may name any host before its path, even an invalid one. */
const queryOf = ({ originalUrl }: Request) => new URLSearchParams(/\?.*/s.exec(originalUrl)?.[0]);

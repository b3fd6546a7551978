import { hash, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { requestTarget } from "../network/request-target.ts";
import { type Account, accountByEmail } from "./accounts.ts";
import { answer, readBody, readForm } from "./exchange.ts";
import { errorPage, passwordPage, passwordSetPage } from "./pages.ts";
import type { Passwords } from "./passwords.ts";

/** A mail of the local provider, which is never sent. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

const path = "/password-reset";
const lifetimeMs = 3_600_000;
const shortestPassword = 8;

/** True when a request belongs to the password reset. */
export function isPasswordReset({ url = "" }: IncomingMessage): boolean {
  return url === path || url.startsWith(`${path}?`);
}

/**
 * Serves `POST /password-reset` with `{email}`, answered 202 for every address; an account gets a mail with a link to the
 * page for a new password, valid once and for an hour. A new password ends all links of the account.
 */
export function passwordReset(issuer: string, passwords: Passwords, deliver: (mail: Mail) => Promise<void>) {
  const open = new Map<string, { readonly account: Account; readonly until: number }>();

  async function begin(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const email = emailOf(await readBody(request));
    if (email === undefined) return void response.writeHead(400).end();
    const account = accountByEmail(email);
    if (account !== undefined) {
      const token = randomBytes(32).toString("base64url");
      open.set(digest(token), { account, until: Date.now() + lifetimeMs });
      await deliver(mailTo(account, `${issuer}${path}?token=${token}`));
    }
    response.writeHead(202).end();
  }

  function accountOf(token: string): Account | undefined {
    for (const [key, { until }] of open) if (until <= Date.now()) open.delete(key);
    return open.get(digest(token))?.account;
  }

  function closeAllOf(holder: Account): void {
    for (const [key, { account }] of open) if (account === holder) open.delete(key);
  }

  async function finish(token: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const password = request.method === "POST" ? await passwordOf(request) : undefined;
    // No `await` from here to the change: of two simultaneous requests with one link, the second finds it used.
    const account = accountOf(token);
    if (account === undefined)
      return answer(response, 400, errorPage("This link is no longer good. Ask for a new one."));
    if (password === undefined) return answer(response, 200, passwordPage());
    if (password.length < shortestPassword) {
      return answer(response, 400, passwordPage(`The password needs ${shortestPassword} characters at least.`));
    }
    closeAllOf(account);
    passwords.change(account, password);
    answer(response, 200, passwordSetPage());
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const token = requestTarget(request)?.searchParams.get("token");
    if (typeof token === "string") return finish(token, request, response);
    if (request.method === "POST") return begin(request, response);
    response.writeHead(405, { allow: "POST" }).end();
  }

  return (request: IncomingMessage, response: ServerResponse): Promise<void> =>
    serve(request, response).catch((error: unknown) => {
      console.error("the resetting of a password failed", error);
      response.writeHead(500).end();
    });
}

async function passwordOf(request: IncomingMessage): Promise<string> {
  return (await readForm(request))?.get("password") ?? "";
}

function emailOf(body: string | undefined): string | undefined {
  try {
    const { email } = JSON.parse(body ?? "") as { email?: unknown };
    return typeof email === "string" ? email : undefined;
  } catch {
    return undefined;
  }
}

function mailTo({ email, name }: Account, link: string): Mail {
  const text = `Hello ${name},\n\nset a new password within an hour: ${link}\n\nIf you did not ask for it, do nothing.\n`;
  return { to: email, subject: "Set a new password", text };
}

/** The stored digest of a link does not open the page. */
const digest = (token: string) => hash("sha256", token, "base64url");

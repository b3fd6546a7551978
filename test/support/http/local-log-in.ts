import { createHash, randomBytes } from "node:crypto";
import type { IdentityProvider } from "../../../deploy/local/identity/provider.ts";
import { Browser } from "./browser.ts";

/** The redirect address of log-ins in tests, without a listener. */
export const COME_BACK = "http://127.0.0.1:8765/callback";

export interface Tokens {
  readonly id_token: string;
  readonly refresh_token: string;
}

/** Requests tokens with those parameters of a grant, by default as the client `ephemeral`. */
export async function requestTokens(issuer: string, parameters: Readonly<Record<string, string>>): Promise<Tokens> {
  const body = new URLSearchParams({ client_id: "ephemeral", ...parameters });
  const reply = await fetch(`${issuer}/token`, { method: "POST", body });
  if (!reply.ok) throw new Error(`the identity provider answered ${reply.status}: ${await reply.text()}`);
  return (await reply.json()) as Tokens;
}

/** The first address of a log-in, for the verifier of its code. */
export function authorizationUrl(
  issuer: string,
  verifier: string,
  more: Readonly<Record<string, string>> = {},
): string {
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const query = new URLSearchParams({
    client_id: "ephemeral",
    response_type: "code",
    scope: "openid email profile",
    redirect_uri: COME_BACK,
    code_challenge: challenge,
    code_challenge_method: "S256",
    state: "s",
    nonce: "n",
    ...more,
  });
  return `${issuer}/auth?${query}`;
}

/** Logs in through the pages, and answers the parameters that exchange the code. */
export async function authorized(
  { issuer, passwords }: Pick<IdentityProvider, "issuer" | "passwords">,
  email: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Record<string, string>> {
  const browser = new Browser();
  const verifier = randomBytes(32).toString("base64url");
  const page = await browser.open(authorizationUrl(issuer, verifier, more));
  const back = await browser.submit(page, { email, password: passwords[email] ?? "" }, COME_BACK);
  const code = new URL(back.headers.get("location") ?? "").searchParams.get("code") ?? "";
  const { client_id = "ephemeral" } = more;
  return { client_id, grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: COME_BACK };
}

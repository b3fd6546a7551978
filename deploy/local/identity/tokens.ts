import { accountByEmail } from "./accounts.ts";
import { clientId } from "./configuration.ts";

/** What the provider answers to a log-in. */
export interface Tokens {
  readonly id_token: string;
  readonly access_token: string;
  readonly refresh_token: string;
  /** Seconds that the access token lives. */
  readonly expires_in: number;
}

/** Logs an account of accounts.json in, with its own password. Fails when the provider refuses or is away. */
export async function logInAs(issuer: string, email: string): Promise<Tokens> {
  const account = accountByEmail(email);
  if (!account) throw new Error(`${email} is no account of the local identity provider`);
  return requestTokens(issuer, { grant_type: "password", username: email, password: account.password });
}

/** Asks the token endpoint for tokens with those parameters of a grant. */
export async function requestTokens(issuer: string, parameters: Record<string, string>): Promise<Tokens> {
  const discovery = await fetch(`${issuer}/.well-known/openid-configuration`, { signal: AbortSignal.timeout(10_000) });
  const { token_endpoint: endpoint } = (await discovery.json()) as { token_endpoint: string };
  const body = new URLSearchParams({ client_id: clientId, ...parameters });
  const reply = await fetch(endpoint, { method: "POST", body, signal: AbortSignal.timeout(10_000) });
  if (!reply.ok) throw new Error(`the identity provider answered ${reply.status}: ${await reply.text()}`);
  return (await reply.json()) as Tokens;
}

import type { Configuration, JWK, Account as ProviderAccount } from "oidc-provider";
// @ts-expect-error: the package has no types for it.
import { createMemoryAdapter } from "oidc-provider/lib/adapters/memory_adapter.js";
import { accountBySubject, accountDomain } from "./accounts.ts";
import { errorPage } from "./pages.ts";

/** The public client that people and tools log in with; it has no secret. */
export const clientId = "ephemeral";

/** Everything that is signed survives a restart with these. */
export interface ProviderKeys {
  /** The private key that tokens are signed with (RS256). */
  readonly signing: JWK;
  /** Signs the log-in pages' cookies. */
  readonly cookie: string;
}

/** The scopes of a log-in that names none: all of them. */
export const everyScope = "openid offline_access email profile";

/** How long an ID token is good for. */
export const idTokenSeconds = 3600;

/** oidc-provider's configuration; `moreGrants` are grant types of our own: https://github.com/panva/node-oidc-provider/blob/main/docs/README.md */
export function configuration({ signing, cookie }: ProviderKeys, moreGrants: readonly string[] = []): Configuration {
  return {
    // The default, of which the provider would warn: a restart asks people to log in again.
    adapter: createMemoryAdapter(),
    jwks: { keys: [signing] },
    cookies: { keys: [cookie] },
    clients: [
      {
        client_id: clientId,
        token_endpoint_auth_method: "none",
        // A native application may use any port of a loopback address to come back to (RFC 8252, 7.3).
        application_type: "native",
        grant_types: ["authorization_code", "refresh_token", ...moreGrants],
        response_types: ["code"],
        redirect_uris: ["http://127.0.0.1/callback", "http://localhost/callback"],
      },
    ],
    scopes: everyScope.split(" "),
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups", "hd"] },
    // Otherwise only the userinfo endpoint would tell e-mail and groups.
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    issueRefreshToken: async (_context, client) => client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: false,
    ttl: {
      IdToken: idTokenSeconds,
      AccessToken: 3600,
      RefreshToken: 86_400,
      Grant: 86_400,
      Session: 86_400,
      Interaction: 600,
    },
    renderError(context, { error, error_description: description }) {
      context.type = "html";
      context.body = errorPage(`${error}: ${description ?? ""}`);
    },
    findAccount: (_context, subject) => findAccount(subject),
  };
}

/** The account of that `sub` as the provider wants it: with the claims that its tokens carry. */
export function findAccount(subject: string): ProviderAccount | undefined {
  const account = accountBySubject(subject);
  if (!account) return undefined;
  const { email, name, groups } = account;
  const claims = { sub: subject, email, email_verified: true, name, groups: [...groups], hd: accountDomain };
  return { accountId: subject, claims: () => claims };
}

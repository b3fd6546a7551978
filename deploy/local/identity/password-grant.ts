import { errors, type KoaContextWithOIDC, type Provider } from "oidc-provider";
import { everyScope, findAccount } from "./configuration.ts";
import type { Passwords } from "./passwords.ts";

/** Name of the grant type. */
export const passwordGrant = "password";

/**
 * Adds the grant type `password` to the provider: tokens for e-mail and password, without a browser. It serves trials of
 * clients that know nothing else; OAuth 2.1 dropped it, and this provider has it on request only.
 */
export function addPasswordGrant(provider: Provider, passwords: Passwords): void {
  provider.registerGrantType<{ username?: string; password?: string; scope?: string }>(
    passwordGrant,
    async (context) => {
      const { username = "", password = "", scope = everyScope } = context.oidc.params ?? {};
      const account = passwords.logIn(username, password);
      if (!account) throw new errors.InvalidGrant("wrong e-mail or password");
      context.body = await issueTokens(provider, context, { subject: account.subject, scope });
    },
    ["username", "password", "scope"],
  );
}

async function issueTokens(
  provider: Provider,
  context: KoaContextWithOIDC,
  { subject, scope }: { subject: string; scope: string },
): Promise<Record<string, unknown>> {
  const { client } = context.oidc;
  if (!client) throw new errors.InvalidClient("the client is not known");
  const account = findAccount(subject);
  if (!account) throw new errors.InvalidGrant("the account is gone");
  const grant = new provider.Grant({ accountId: subject, clientId: client.clientId });
  grant.addOIDCScope(scope);
  const common = { accountId: subject, client, grantId: await grant.save(), gty: passwordGrant, scope };
  const accessToken = new provider.AccessToken(common);
  context.oidc.entity("Grant", grant);
  context.oidc.entity("Account", account);
  context.oidc.entity("AccessToken", accessToken);
  const authTime = Math.floor(Date.now() / 1000);
  const refreshToken = new provider.RefreshToken({ ...common, authTime, rotations: 0 });
  context.oidc.entity("RefreshToken", refreshToken);
  const idToken = new provider.IdToken({ ...(await account.claims("id_token", scope, {}, [])) }, { ctx: context });
  // The provider keeps only the scope's claims; its types omit the scope.
  Object.assign(idToken, { scope });
  idToken.set("auth_time", authTime);
  return {
    token_type: "Bearer",
    scope,
    access_token: await accessToken.save(),
    expires_in: accessToken.expiration,
    refresh_token: await refreshToken.save(),
    id_token: await idToken.issue({ use: "idtoken" }),
  };
}

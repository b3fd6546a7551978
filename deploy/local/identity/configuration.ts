import type { Configuration, JWK, Account as ProviderAccount } from "oidc-provider";
// @ts-expect-error: the package has no types for it.
import { createMemoryAdapter } from "oidc-provider/lib/adapters/memory_adapter.js";
import { accountBySubject, accountDomain } from "./accounts.ts";
import { type Clients, clientsOf, toolClientId } from "./clients.ts";
import { showPage } from "./exchange.ts";
import { deviceConfirmPage, deviceDonePage, devicePage, errorPage, loggedOutPage, logOutPage } from "./pages.ts";

type DeviceFlow = NonNullable<NonNullable<Configuration["features"]>["deviceFlow"]>;

/** The pages on which a person lets a program in that has no browser (RFC 8628). */
const devicePages: Pick<DeviceFlow, "userCodeInputSource" | "userCodeConfirmSource" | "successSource"> = {
  userCodeInputSource: (context, form, _out, error) =>
    showPage(context, devicePage(form, error === undefined ? undefined : "This code is not known, or has expired.")),
  // The fifth parameter is the code.
  userCodeConfirmSource: (context, form, { clientId }, ...[, code]) =>
    showPage(context, deviceConfirmPage(form, { clientId, code })),
  successSource: (context) => showPage(context, deviceDonePage()),
};

/** Keys that keep signed data valid over a restart. */
export interface ProviderKeys {
  readonly signing: JWK;
  /** The key of the log-in pages' cookies. */
  readonly cookie: string;
}

/** The scopes of a log-in that names none: all of them. */
export const everyScope = "openid offline_access email profile";

/** Lifetime of an ID token in seconds. */
export const idTokenSeconds = 3600;

/** oidc-provider's configuration: https://github.com/panva/node-oidc-provider/blob/main/docs/README.md */
export function configuration({ signing, cookie }: ProviderKeys, clients: Clients = {}): Configuration {
  return {
    // The default, set explicitly to avoid the provider's warning: a restart asks people to log in again.
    adapter: createMemoryAdapter(),
    jwks: { keys: [signing] },
    cookies: { keys: [cookie] },
    clients: clientsOf(clients),
    scopes: everyScope.split(" "),
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups", "hd"] },
    // Otherwise e-mail and groups would come from the userinfo endpoint only.
    conformIdTokenClaims: false,
    features: {
      devInteractions: { enabled: false },
      deviceFlow: { enabled: true, ...devicePages },
      revocation: { enabled: true, allowedPolicy: (_context, { clientId }, token) => token.clientId === clientId },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context, form) => showPage(context, logOutPage(form)),
        postLogoutSuccessSource: (context) => showPage(context, loggedOutPage()),
      },
    },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    // Other providers require the scope; scripts with the tools' client need not send it.
    issueRefreshToken: async (_context, client, { scopes }) =>
      client.grantTypeAllowed("refresh_token") && (client.clientId === toolClientId || scopes.has("offline_access")),
    rotateRefreshToken: ({ oidc }) => oidc.client?.clientId !== toolClientId,
    ttl: {
      IdToken: idTokenSeconds,
      AccessToken: 3600,
      RefreshToken: 86_400,
      Grant: 86_400,
      Session: 86_400,
      Interaction: 600,
      DeviceCode: 600,
    },
    renderError: (context, { error, error_description: description }) =>
      showPage(context, errorPage(`${error}: ${description ?? ""}`)),
    findAccount: (_context, subject) => findAccount(subject),
  };
}

/** The account of that `sub` in the provider's form, with its token claims. */
export function findAccount(subject: string): ProviderAccount | undefined {
  const account = accountBySubject(subject);
  if (!account) return undefined;
  const { email, name, groups } = account;
  const claims = { sub: subject, email, email_verified: true, name, groups: [...groups], hd: accountDomain };
  return { accountId: subject, claims: () => claims };
}

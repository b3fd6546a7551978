import type { ClientMetadata } from "oidc-provider";

/** The public client for log-ins of local tools and scripts. */
export const toolClientId = "ephemeral";

/** The public client of the command line. */
export const commandLineClientId = "eenv";

/** The client of the web console; it has a secret. */
export const consoleClientId = "console";

/** Options that differ between starts of the provider. */
export interface Clients {
  /** Our own grant types, for the tools' client. */
  readonly moreGrants?: readonly string[];
  /** The console's origin and the secret of its client, where there is a console. */
  readonly console?: { readonly origin: string; readonly secret: string };
}

/** The clients in the form of oidc-provider. */
export function clientsOf({ moreGrants = [], console }: Clients): ClientMetadata[] {
  return [
    native(toolClientId, ["authorization_code", "refresh_token", ...moreGrants]),
    native(commandLineClientId, [
      "authorization_code",
      "refresh_token",
      "urn:ietf:params:oauth:grant-type:device_code",
    ]),
    ...(console === undefined ? [] : [ofConsole(console)]),
  ];
}

/** A native application may use any port of a loopback redirect address (RFC 8252, 7.3). */
const native = (clientId: string, grants: string[]): ClientMetadata => ({
  client_id: clientId,
  token_endpoint_auth_method: "none",
  application_type: "native",
  grant_types: grants,
  response_types: ["code"],
  redirect_uris: ["http://127.0.0.1/callback", "http://localhost/callback"],
});

const ofConsole = ({ origin, secret }: NonNullable<Clients["console"]>): ClientMetadata => ({
  client_id: consoleClientId,
  client_secret: secret,
  token_endpoint_auth_method: "client_secret_basic",
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  redirect_uris: [`${origin}/console/auth/callback`],
  post_logout_redirect_uris: [`${origin}/console/`],
});

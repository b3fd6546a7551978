/** Log-ins at OpenID Connect issuers; loaded when needed. */
import * as oidc from "openid-client";
import { causeOf, EXIT, Failure } from "../failure.ts";
import { isLoopback } from "./addresses.ts";
import type { LoginCredential } from "./credential.ts";

/** Issuer and client of a log-in. */
export interface Login {
  readonly issuer: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
}

const DEADLINE_SECONDS = 10;

/** Metadata of the issuer. @throws Failure (refused) when it can't be reached */
export function discovered({ issuer, clientId }: Pick<Login, "issuer" | "clientId">): Promise<oidc.Configuration> {
  const address = new URL(issuer);
  // Elsewhere a log-in without TLS is refused.
  const execute = isLoopback(address) && address.protocol === "http:" ? [oidc.allowInsecureRequests] : [];
  const options = { execute, timeout: DEADLINE_SECONDS };
  return oidc.discovery(address, clientId, undefined, oidc.None(), options).catch((error: Error) => {
    throw error instanceof TypeError
      ? new Failure(EXIT.refused, `${issuer} can't be reached: ${causeOf(error)}`)
      : error;
  });
}

/** Credential for the reply to a log-in. @throws Failure (not allowed) without an ID token */
export function credentialOf(
  { issuer, clientId }: Pick<Login, "issuer" | "clientId">,
  tokens: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers,
  formerRefreshToken?: string,
): LoginCredential {
  const expires = tokens.claims()?.exp;
  if (tokens.id_token === undefined || expires === undefined) {
    throw new Failure(EXIT.notAllowed, `${issuer} gave no ID token`);
  }
  const refreshToken = tokens.refresh_token ?? formerRefreshToken;
  return {
    kind: "login",
    issuer,
    clientId,
    idToken: tokens.id_token,
    ...(refreshToken !== undefined && { refreshToken }),
    expiresAt: new Date(expires * 1e3).toISOString(),
  };
}

/** Renews the ID token. @throws Failure (not allowed) when the issuer refuses */
export async function renew(login: LoginCredential, refreshToken: string): Promise<LoginCredential> {
  try {
    const tokens = await oidc.refreshTokenGrant(await discovered(login), refreshToken);
    return credentialOf(login, tokens, refreshToken);
  } catch (error) {
    if (!(error instanceof oidc.ResponseBodyError)) throw error;
    throw new Failure(EXIT.notAllowed, `${login.issuer} does not renew the log-in (${error.error}): run eenv login`);
  }
}

/** Ends a log-in at its issuer, if the issuer supports that. @throws Error when it failed */
export async function revoke(login: LoginCredential): Promise<void> {
  if (login.refreshToken === undefined) return;
  const configuration = await discovered(login);
  if (configuration.serverMetadata().revocation_endpoint === undefined) return;
  await oidc.tokenRevocation(configuration, login.refreshToken, { token_type_hint: "refresh_token" });
}

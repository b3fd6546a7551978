import type { Configuration, TokenEndpointResponse, TokenEndpointResponseHelpers } from "openid-client";
import type { Settings } from "../../config/settings.ts";
import { Sensitive } from "../../crds/sensitive.ts";
import type { Log } from "../../operator/kit/log.ts";
import type { Clock } from "../../operator/kit/time/clock.ts";
import type { ConsoleSecrets } from "../../operator/ports/secret-manager.ts";

/** Endpoints and secrets may change: both are read again after this time. */
const KNOWN_FOR_MS = 5 * 60_000;
const REQUEST_TIMEOUT_SECONDS = 5;
const CLOCK_TOLERANCE_SECONDS = 30;

export type ConsoleSettings = NonNullable<Settings["console"]>;

/** Values that a log-in has to bring back. */
export interface LoginProof {
  readonly state: string;
  readonly nonce: string;
  /** https://www.rfc-editor.org/rfc/rfc7636 */
  readonly verifier: string;
}

export interface Tokens {
  readonly idToken: Sensitive;
  readonly refreshToken: Sensitive | undefined;
}

/** The issuer refused, with its error code of OAuth. */
export class IssuerRefused extends Error {
  override readonly name = "IssuerRefused";
  readonly code: string;

  constructor(code: string, options?: ErrorOptions) {
    super(`the issuer refused: ${code}`, options);
    this.code = code;
  }
}

/** The issuer can't be used now: unreachable, an invalid answer, or no secret of the console. */
export class IssuerUnusable extends Error {
  override readonly name = "IssuerUnusable";
}

/** Issuer for log-ins at the console. Every method but `revoke` throws IssuerUnusable. */
export interface ConsoleIssuer {
  /** Address at which a log-in begins. */
  loginUrl(proof: LoginProof): Promise<string>;
  /** Tokens for a log-in's parameters. Throws IssuerRefused. */
  exchange(answer: URLSearchParams, proof: LoginProof): Promise<Tokens>;
  /** New tokens; the refresh token may be valid once. Throws IssuerRefused. */
  refresh(refreshToken: Sensitive): Promise<Tokens>;
  /** Revokes a refresh token, where the issuer can and answers. */
  revoke(refreshToken: Sensitive): Promise<void>;
  /** Page of the issuer for a log-out; `undefined` when it has none. */
  logoutUrl(): Promise<string | undefined>;
}

interface IssuerParts {
  readonly settings: ConsoleSettings;
  readonly issuer: string;
  readonly secrets: ConsoleSecrets;
  readonly clock: Clock;
  readonly log: Log;
}

type Library = typeof import("openid-client");
type Use<T> = (library: Library, config: Configuration) => Promise<T> | T;

/** The console as a client of its issuer (authorization code with PKCE), by openid-client, loaded at the first use. */
export function consoleIssuer({ settings, issuer, secrets, clock, log }: IssuerParts): ConsoleIssuer {
  const redirectUri = `${settings.publicUrl}/console/auth/callback`;
  let known: { readonly config: Promise<Configuration>; readonly requestedMs: number } | undefined;

  async function discovered(library: Library): Promise<Configuration> {
    const secret = await secrets.clientSecret();
    const isLoopback = issuer.startsWith("http:");
    return library.discovery(
      new URL(issuer),
      settings.clientId,
      { [library.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
      authentication(library, secret),
      { timeout: REQUEST_TIMEOUT_SECONDS, ...(isLoopback && { execute: [library.allowInsecureRequests] }) },
    );
  }

  async function use<T>(call: Use<T>): Promise<T> {
    const library = await import("openid-client");
    if (known === undefined || clock.monotonicMs() - known.requestedMs > KNOWN_FOR_MS) {
      known = { config: discovered(library), requestedMs: clock.monotonicMs() };
    }
    const { config } = known;
    try {
      return await call(library, await config);
    } catch (error) {
      const refusal = refusalOf(library, error);
      if (refusal !== undefined) throw refusal;
      // The next use discovers anew: endpoints or secret may have changed.
      known = undefined;
      log.warn("the console's issuer can't be used", { issuer, error });
      throw new IssuerUnusable("The identity provider can't be used now; try again later", { cause: error });
    }
  }

  return {
    loginUrl: ({ state, nonce, verifier }) =>
      use(async (library, config) => {
        const address = library.buildAuthorizationUrl(config, {
          ...settings.authorizationParameters,
          redirect_uri: redirectUri,
          scope: settings.scopes.join(" "),
          state,
          nonce,
          code_challenge: await library.calculatePKCECodeChallenge(verifier),
          code_challenge_method: "S256",
        });
        return address.href;
      }),
    exchange: (answer, { state, nonce, verifier }) =>
      use(async (library, config) => {
        const checks = {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        };
        return tokensOf(await library.authorizationCodeGrant(config, new URL(`${redirectUri}?${answer}`), checks));
      }),
    refresh: (refreshToken) =>
      use(async (library, config) => {
        const given = await library.refreshTokenGrant(config, refreshToken.reveal());
        return tokensOf(given, refreshToken);
      }),
    revoke: (refreshToken) =>
      use(async (library, config) => {
        if (config.serverMetadata().revocation_endpoint === undefined) return;
        await library.tokenRevocation(config, refreshToken.reveal(), { token_type_hint: "refresh_token" });
      }).catch((error: unknown) => log.warn("a refresh token was not revoked", { issuer, error })),
    logoutUrl: () =>
      use((library, config) => {
        if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
        const parameters = { post_logout_redirect_uri: `${settings.publicUrl}/console/` };
        return library.buildEndSessionUrl(config, parameters).href;
      }),
  };
}

/** Default of OpenID Connect. */
function authentication(library: Library, secret: Sensitive | undefined) {
  return secret === undefined ? library.None() : library.ClientSecretBasic(secret.reveal());
}

/** A refresh may keep the refresh token, but has to bring an ID token. */
function tokensOf(given: TokenEndpointResponse & TokenEndpointResponseHelpers, former?: Sensitive): Tokens {
  if (given.id_token === undefined) throw new IssuerRefused("no_id_token");
  const refreshToken = given.refresh_token === undefined ? former : new Sensitive(given.refresh_token);
  return { idToken: new Sensitive(given.id_token), refreshToken };
}

/** Problems of the console's registration, not refusals of a person. */
const OURS: readonly string[] = ["invalid_client", "unauthorized_client", "server_error", "temporarily_unavailable"];

/** Codes for another log-in: other state or nonce, or another client. */
const FOREIGN: readonly string[] = ["OAUTH_INVALID_RESPONSE", "OAUTH_JWT_CLAIM_COMPARISON_FAILED"];

function refusalOf(library: Library, error: unknown): IssuerRefused | undefined {
  if (error instanceof IssuerRefused) return error;
  const isAnswer = error instanceof library.AuthorizationResponseError || error instanceof library.ResponseBodyError;
  if (isAnswer) return OURS.includes(error.error) ? undefined : new IssuerRefused(error.error, { cause: error });
  const isForeign = error instanceof library.ClientError && FOREIGN.includes(error.code ?? "");
  return isForeign ? new IssuerRefused("invalid_response", { cause: error }) : undefined;
}

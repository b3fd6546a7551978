import type { Settings } from "../../config/settings.ts";
import { type ApiToken, isOf, isTokenText, tokenState, tokenTraits } from "../../crds/api-token.ts";
import { DAY_MS } from "../../crds/durations.ts";
import { ClusterUnavailable } from "../../crds/errors.ts";
import type { ApiTokenReader, AssertedClaims } from "../../operator/ports/api-tokens.ts";
import { HttpError } from "../errors.ts";
import type { Services } from "../services.ts";
import { type Caller, issuerOf, narrowed, permissionsOf, rolesOf } from "./access.ts";
import { TokenRefused } from "./id-tokens.ts";
import type { IssuerSettings } from "./issuer-keys.ts";
import { LiveTokens } from "./live-tokens.ts";

export interface VerifyOptions {
  /** True for a read: an answer of up to a minute ago counts while the API server can't be reached. */
  readonly isRead: boolean;
  /** False for an address with too many guesses: then only cached tokens count. */
  readonly mayGuess: () => boolean;
}

interface Context extends Pick<Services, "settings" | "clock"> {
  readonly apiTokens: ApiTokenReader;
}

/**
 * Verifies API tokens: `verify` returns the caller and the stored token; throws TokenRefused for an invalid token,
 * HttpError (unavailable) when its validity is unknown now.
 */
export function apiTokenVerifier({ apiTokens, settings, clock }: Context) {
  const live = new LiveTokens(apiTokens, clock);
  return {
    async verify(text: string, { isRead, mayGuess }: VerifyOptions): Promise<{ caller: Caller; token: ApiToken }> {
      // Before anything is computed from the text.
      if (!isTokenText(text)) throw new TokenRefused("not the form of an API token");
      const { id, tokenHash } = tokenTraits(text);
      if (apiTokens.known(id) === undefined && !mayGuess())
        throw new TokenRefused("one of too many unknown API tokens");
      const token = await live.find(id, isRead).catch(asHttpError);
      if (token === undefined || !isOf(token, tokenHash)) throw new TokenRefused("no such API token");
      checkValid(token, settings, clock.now());
      return { caller: bearerOf(token, settings), token };
    },
  };
}

function asHttpError(error: unknown): never {
  if (!(error instanceof ClusterUnavailable)) throw error;
  throw new HttpError("unavailable", error.message, { retryAfterSeconds: error.retryAfterSeconds, cause: error });
}

/** Only the bearer of a genuine token gets this far, and may learn the problem. */
function checkValid(token: ApiToken, settings: Settings, now: Date): void {
  const { owner, assertedClaims } = token.spec;
  const state = tokenState(token, now);
  if (state === "revoked") throw new TokenRefused("a revoked API token", { detail: "The API token was revoked" });
  if (state === "expired") throw new TokenRefused("an expired API token", { detail: "The API token has expired" });
  const issuer = issuerOf(owner.subject, settings);
  if (issuer === undefined) throw new TokenRefused("an API token whose owner's issuer is not trusted");
  checkAssertedClaims(assertedClaims, { issuer, settings, now });
}

/**
 * Checks that stored facts about an owner still hold.
 *
 * @throws TokenRefused
 */
export function checkAssertedClaims(
  assertedClaims: AssertedClaims,
  { issuer, settings, now }: { readonly issuer: IssuerSettings; readonly settings: Settings; readonly now: Date },
): void {
  checkRequired(assertedClaims, issuer);
  const { confirmedDays } = settings.api.tokens;
  if (now.getTime() - Date.parse(assertedClaims.at) <= confirmedDays * DAY_MS) return;
  const detail = `The API token's owner has not signed in for ${confirmedDays} days; the next request with an ID token of the owner makes it good again`;
  throw new TokenRefused("an API token whose owner is not confirmed", { detail });
}

/** A token is valid only while its owner could sign in; after a new required claim the owner has to sign in first. */
function checkRequired({ claims = {} }: AssertedClaims, { requiredClaims }: IssuerSettings): void {
  for (const [claim, accepted] of Object.entries(requiredClaims)) {
    if (Object.hasOwn(claims, claim) && accepted.includes(claims[claim] ?? "")) continue;
    const detail = `The API token's owner is not known to have an accepted value of the claim '${claim}'; the next request with an ID token of the owner that has one makes it good again`;
    throw new TokenRefused("an API token whose owner lacks a required claim", { detail });
  }
}

function bearerOf({ metadata, spec }: ApiToken, settings: Settings): Caller {
  const { owner, assertedClaims, scopes, expiresAt } = spec;
  const roles = rolesOf({ subject: owner.subject, groups: assertedClaims.groups }, settings);
  return {
    ...owner,
    groups: assertedClaims.groups,
    claims: assertedClaims.claims ?? {},
    roles,
    permissions: narrowed(permissionsOf(roles), scopes),
    method: "api_token",
    assertedAt: new Date(assertedClaims.at),
    expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt),
    token: { id: metadata.name, scopes },
  };
}

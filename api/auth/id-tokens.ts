import { decodeJwt, errors, type JWTPayload, jwtVerify } from "jose";
import type { Settings } from "../../config/settings.ts";
import { GROUP_MAX_LENGTH, MOST_GROUPS } from "../../crds/api-token.schema.ts";
import { HttpError } from "../errors.ts";
import type { Identity } from "./callers.ts";
import { IssuerKeys, type IssuerSettings, type KeySources } from "./issuer-keys.ts";

/** Longer ones are refused before anything is parsed. */
const MAX_TOKEN_CHARS = 8192;
const CLOCK_TOLERANCE_SECONDS = 30;
/** Three base64url parts: no JWE, no unsecured token. */
const COMPACT_JWS = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
/** Last moment of a Date, in seconds; a later expiry is refused. */
const LAST_MOMENT = 8_640_000_000_000;

const MAX_SUBJECT_CHARS = 255;
const MAX_NAME_CHARS = 254;

/** Refusal of a token, for the log. Only `detail` is for the caller, where the token itself was genuine. */
export class TokenRefused extends Error {
  override readonly name = "TokenRefused";
  readonly detail: string | undefined;

  constructor(reason: string, options?: ErrorOptions & { readonly detail?: string }) {
    super(reason, options);
    this.detail = options?.detail;
  }
}

interface TrustedIssuer {
  readonly settings: IssuerSettings;
  readonly keys: IssuerKeys;
}

/**
 * Trusts only the issuers of the settings, each with its own audiences and algorithms. `verify` returns the token's
 * person; throws TokenRefused for an invalid token, HttpError (unavailable) without the issuer's keys.
 */
export function idTokenVerifier(issuers: Settings["api"]["issuers"], sources: KeySources) {
  const trusted = new Map<string, TrustedIssuer>(
    issuers.map((settings) => [settings.issuer, { settings, keys: new IssuerKeys(settings, sources) }]),
  );
  return {
    verify: async (token: string): Promise<Identity> => {
      const issuer = trusted.get(claimedIssuer(token));
      if (issuer === undefined) throw new TokenRefused("of an issuer that is not trusted");
      const payload = await verified(token, issuer, sources.clock.now());
      const claims = requiredOf(payload, issuer.settings);
      return { ...identityOf(payload, issuer.settings), claims };
    },
  };
}

/** Unverified: it only chooses the issuer whose keys have to verify the token. */
function claimedIssuer(token: string): string {
  if (token.length > MAX_TOKEN_CHARS || !COMPACT_JWS.test(token)) throw new TokenRefused("not a signed token");
  try {
    return decodeJwt(token).iss ?? "";
  } catch (cause) {
    throw new TokenRefused("not readable", { cause });
  }
}

async function verified(token: string, { settings, keys }: TrustedIssuer, now: Date): Promise<JWTPayload> {
  const audiences = [settings.audience].flat();
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys.keyFor, {
      issuer: settings.issuer,
      audience: audiences,
      algorithms: [...settings.algorithms],
      requiredClaims: ["exp", "iat", "sub"],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: now,
    });
    checkClaims(payload, audiences, now);
    checkType(protectedHeader.typ);
    return payload;
  } catch (error) {
    if (error instanceof HttpError || error instanceof TokenRefused) throw error;
    if (error instanceof errors.JOSEError) throw new TokenRefused(error.code, { cause: error });
    // A key of the issuer that does not fit the algorithm is a TypeError of jose's.
    if (error instanceof TypeError) throw new TokenRefused("key and algorithm don't fit", { cause: error });
    throw error;
  }
}

/** Makes the checks that jose leaves to its caller. */
function checkClaims({ sub, iat, exp, ...payload }: JWTPayload, audiences: readonly string[], now: Date): void {
  if (typeof sub !== "string" || sub === "" || sub.length > MAX_SUBJECT_CHARS) throw new TokenRefused("no subject");
  if (exp === undefined || exp > LAST_MOMENT) throw new TokenRefused("no real expiry");
  const latest = now.getTime() / 1000 + CLOCK_TOLERANCE_SECONDS;
  if (iat === undefined || iat > latest) throw new TokenRefused("issued in the future");
  checkParty(payload, audiences);
}

/** https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation, 4 and 5. */
function checkParty({ aud, azp }: JWTPayload, audiences: readonly string[]): void {
  const several = Array.isArray(aud) && aud.length > 1;
  const isOurs = typeof azp === "string" && audiences.includes(azp);
  if ((several || azp !== undefined) && !isOurs) throw new TokenRefused("made for another party");
}

function requiredOf(payload: JWTPayload, { requiredClaims }: IssuerSettings): Identity["claims"] {
  const values = Object.entries(requiredClaims).map(([claim, accepted]) => {
    const given: unknown = Object.hasOwn(payload, claim) ? payload[claim] : undefined;
    const value = accepted.find((one) => (Array.isArray(given) ? given.includes(one) : given === one));
    if (value !== undefined) return [claim, value] as const;
    const detail = `The ID token's claim '${claim}' has no value that is accepted here`;
    throw new TokenRefused("without a required claim", { detail });
  });
  return Object.fromEntries(values);
}

/** RFC 9068 gives access tokens another type: they authenticate no user. */
function checkType(type: string | undefined): void {
  if (type !== undefined && type.toLowerCase() !== "jwt") throw new TokenRefused("not an ID token");
}

function identityOf(payload: JWTPayload, settings: IssuerSettings): Omit<Identity, "claims"> {
  const email = payload.email_verified === false ? "" : text(payload.email);
  return {
    issuer: settings.issuer,
    sub: String(payload.sub),
    email,
    name: text(payload.name) || text(payload.preferred_username) || email,
    groups: groupsOf(payload, settings),
    issuedAt: new Date(Number(payload.iat) * 1000),
    expiresAt: new Date(Number(payload.exp) * 1000),
  };
}

function groupsOf(payload: JWTPayload, { groupsClaim, groupsPrefix = "" }: IssuerSettings): string[] {
  const groups: unknown = payload[groupsClaim];
  if (!Array.isArray(groups)) return [];
  const named = groups.filter((group) => typeof group === "string" && group.length > 0);
  return named
    .map((group) => `${groupsPrefix}${group}`)
    .filter(isStorable)
    .slice(0, MOST_GROUPS);
}

const text = (claim: unknown) => (typeof claim === "string" ? claim.slice(0, MAX_NAME_CHARS) : "");
const isStorable = (group: string) => group.length <= GROUP_MAX_LENGTH;

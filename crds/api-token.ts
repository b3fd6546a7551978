import { timingSafeEqual } from "node:crypto";
import { type ApiTokenSpec, type ApiTokenStatus, TOKEN_ID_LENGTH } from "./api-token.schema.ts";
import { sha256 } from "./digest.ts";
import { kindOf, type Namespaced, type Resource } from "./group.ts";
import { isUuid } from "./names.ts";

export { type ApiTokenSpec, type ApiTokenStatus, SCOPES, type Scope } from "./api-token.schema.ts";

/** An API token without its text; its name, the beginning of its hash, is its id. Only the REST interface writes it. */
export interface ApiToken extends Resource<"ApiToken", ApiTokenSpec, Namespaced> {
  readonly status?: ApiTokenStatus;
}

export const apiTokenKind = kindOf("ApiToken", "apitokens");

/** Prefix of API tokens, for scanners of leaked secrets. */
export const TOKEN_PREFIX = "svc_";
/** 256 random bits in base64url. */
const TOKEN_PATTERN = /^svc_[A-Za-z0-9_-]{43}$/;
const ID_PATTERN = new RegExp(`^[0-9a-f]{${TOKEN_ID_LENGTH}}$`);
const SHOWN_LENGTH = 10;

/** True for the form of an API token. */
export const isTokenText = (text: string): boolean => TOKEN_PATTERN.test(text);
/** True for the form of a token's id. */
export const isTokenId = (text: string): boolean => ID_PATTERN.test(text);

/** Text of the token that these 32 random bytes make. */
export const tokenOf = (bytes: Uint8Array): string => `${TOKEN_PREFIX}${Buffer.from(bytes).toString("base64url")}`;

/** Hash of a token in hexadecimal digits, its id, and the beginning that users see. */
export function tokenTraits(token: string): { tokenHash: string; id: string; prefix: string } {
  const tokenHash = sha256(token);
  return { tokenHash, id: tokenHash.slice(0, TOKEN_ID_LENGTH), prefix: token.slice(0, SHOWN_LENGTH) };
}

/** True when the token has that hash; compares in constant time. */
export function isOf({ spec }: ApiToken, tokenHash: string): boolean {
  const [one, other] = [Buffer.from(spec.tokenHash), Buffer.from(tokenHash)];
  return one.length === other.length && timingSafeEqual(one, other);
}

export type TokenState = "active" | "expired" | "revoked";

/** State of a token: active, revoked or expired. */
export function tokenState({ metadata, spec }: ApiToken, now: Date): TokenState {
  if (spec.revokedAt !== undefined || metadata.deletionTimestamp !== undefined) return "revoked";
  return spec.expiresAt !== undefined && Date.parse(spec.expiresAt) <= now.getTime() ? "expired" : "active";
}

/** Revocation or expiry; `undefined` while the token is valid. */
export function endedAt({ spec }: ApiToken, now: Date): Date | undefined {
  const ends = [spec.revokedAt, spec.expiresAt].flatMap((end) => (end === undefined ? [] : [Date.parse(end)]));
  const first = Math.min(...ends);
  return first <= now.getTime() ? new Date(first) : undefined;
}

/** Variable under which the secret manager keeps a token's value. */
export const TOKEN_VARIABLE = "TOKEN";

/** Owner of a token's value in the secret manager; no environment can have its name. */
export function valueOwner({ metadata: { name, uid } }: ApiToken): { name: string; uid: string } {
  return { name: `${VALUE_OWNER}${name.slice(0, 16)}`, uid };
}

const VALUE_OWNER = "api-token--";

/** True when an owner of values is an API token. */
export function isValueOwner({ name, uid }: { readonly name: string; readonly uid: string }): boolean {
  return isUuid(uid) && name.startsWith(VALUE_OWNER) && /^[0-9a-f]{16}$/.test(name.slice(VALUE_OWNER.length));
}

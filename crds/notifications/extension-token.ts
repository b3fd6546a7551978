/** Token in the link of an expiry warning: its bearer may extend one environment, once. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Sensitive } from "../sensitive.ts";

/** Permission that a token gives. */
export interface ExtensionGrant {
  readonly uid: string;
  /** Expiry of the environment, to the second; an extension changes it, and so ends the token. */
  readonly expiresAt: Date;
  readonly addedHours: number;
  /** End of the token itself, to the second. */
  readonly endsAt: Date;
}

/** Longer texts are no extension tokens. */
export const EXTENSION_TOKEN_MAX_LENGTH = 512;
export const EXTENSION_TOKEN_PATTERN = "^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]{43}$";

/** Separates these tokens from other kinds of signed messages. */
const PURPOSE = "ephemeral-environments extension v1";

/** Signs a grant: its base64url, a dot, and the base64url of its HMAC-SHA256. */
export function signExtension({ uid, expiresAt, addedHours, endsAt }: ExtensionGrant, key: Sensitive): string {
  const claims = { uid, exp: toSeconds(expiresAt), hours: addedHours, end: toSeconds(endsAt) };
  const payload = Buffer.from(JSON.stringify(claims)).toString("base64url");
  return `${payload}.${signature(payload, key).toString("base64url")}`;
}

/** Grant of a token; `undefined` unless this key signed it and it has not ended. */
export function verifyExtension(token: string, key: Sensitive, now: Date): ExtensionGrant | undefined {
  if (token.length > EXTENSION_TOKEN_MAX_LENGTH || !new RegExp(EXTENSION_TOKEN_PATTERN).test(token)) return undefined;
  const [payload = "", given = ""] = token.split(".");
  const expected = signature(payload, key).toString("base64url");
  // Compared as text: base64url has several spellings of the last byte.
  if (!timingSafeEqual(Buffer.from(given), Buffer.from(expected))) return undefined;
  const { uid, exp, hours, end } = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
  const grant = { uid, expiresAt: new Date(exp * 1000), addedHours: hours, endsAt: new Date(end * 1000) };
  return grant.endsAt > now ? grant : undefined;
}

const toSeconds = (moment: Date) => Math.floor(moment.getTime() / 1000);

const signature = (payload: string, key: Sensitive) =>
  createHmac("sha256", key.reveal()).update(`${PURPOSE}\n${payload}`).digest();

/** Owner of the platform's keys in the secret manager; no environment can have its name. */
export const PLATFORM_KEYS_OWNER = { name: "platform--keys", uid: "00000000-0000-4000-8000-000000000001" } as const;
/** Variable under which the secret manager keeps the key. */
export const EXTENSION_KEY_VARIABLE = "EXTENSION_KEY";

/** TTL after an extension, at most the maximum; `undefined` when nothing is left to add. */
export function extendedTtl(ttlHours: number, addedHours: number, maximumHours: number): number | undefined {
  const extended = Math.min(ttlHours + addedHours, maximumHours);
  return extended > ttlHours ? extended : undefined;
}

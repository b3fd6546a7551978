/** A proof of identity at a platform: an API token, or a log-in at an issuer that can be renewed. */
export type Credential = TokenCredential | LoginCredential;

export interface TokenCredential {
  readonly kind: "token";
  readonly token: string;
}

export interface LoginCredential {
  readonly kind: "login";
  readonly issuer: string;
  readonly clientId: string;
  readonly idToken: string;
  /** Good for one renewal where the issuer rotates it. */
  readonly refreshToken?: string;
  /** ISO 8601; until when the ID token is good. */
  readonly expiresAt: string;
}

/** An ID token that is good for less than this is renewed before it is used. */
const MARGIN_MS = 30_000;

/** Whether it can be used as it is. */
export function isFresh(credential: Credential, now = Date.now()): boolean {
  return credential.kind === "token" || Date.parse(credential.expiresAt) - now > MARGIN_MS;
}

/** Whether a text can be a token. No other is sent, since what refuses it would show it. */
export const isToken = (text: string): boolean => /^[!-~]{8,8192}$/.test(text);

/** What the platform is sent. */
export function bearerOf(credential: Credential): string {
  return credential.kind === "token" ? credential.token : credential.idToken;
}

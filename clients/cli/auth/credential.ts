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
  /** Valid for one renewal where the issuer rotates it. */
  readonly refreshToken?: string;
  /** Expiry of the ID token, ISO 8601. */
  readonly expiresAt: string;
}

/** Time left below which an ID token is renewed. */
const MARGIN_MS = 30_000;

/** True when it needs no renewal. */
export function isFresh(credential: Credential, now = Date.now()): boolean {
  return credential.kind === "token" || Date.parse(credential.expiresAt) - now > MARGIN_MS;
}

/** True for a text that can be a token. No other is sent, because the refusal would show it. */
export const isToken = (text: string): boolean => /^[!-~]{8,8192}$/.test(text);

/** Value of the `Authorization` header. */
export function bearerOf(credential: Credential): string {
  return credential.kind === "token" ? credential.token : credential.idToken;
}

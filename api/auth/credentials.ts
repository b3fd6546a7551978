import type { IncomingMessage } from "node:http";
import { TOKEN_PREFIX } from "../../crds/api-token.ts";
import type { ApiTokens } from "../../operator/ports/api-tokens.ts";
import type { Services } from "../services.ts";
import type { Caller } from "./access.ts";
import { apiTokenVerifier, type VerifyOptions } from "./api-tokens.ts";
import { callerOf } from "./callers.ts";
import { idTokenVerifier, TokenRefused } from "./id-tokens.ts";
import { tokenNotes } from "./token-notes.ts";

/** Authenticated; refused, with the reason if the caller may know it (`told`); or without any credential. */
export type AuthResult =
  | { readonly state: "caller"; readonly caller: Caller }
  | { readonly state: "refused"; readonly told?: string | undefined }
  | { readonly state: "none" };

/** What authenticating callers takes. */
export interface CredentialParts extends Pick<Services, "settings" | "clock" | "log"> {
  readonly apiTokens: Pick<ApiTokens, "known" | "readClaimed" | "ofOwner" | "vouch" | "noteUse">;
}

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/**
 * Authenticates requests by their `Authorization` header alone: not by the query, not by a cookie.
 *
 * @returns a function whose `mayGuess` says whether an API token that the cache does not know is looked up at the API
 *   server; it throws HttpError (unavailable) when a credential can neither be accepted nor refused now
 */
export function authenticator(parts: CredentialParts) {
  const idTokens = idTokenVerifier(parts.settings.api.issuers, parts);
  const apiTokens = apiTokenVerifier(parts);
  const notes = tokenNotes(parts);

  async function callerFrom(headers: readonly string[], options: VerifyOptions): Promise<Caller> {
    const text = headers.length === 1 ? BEARER.exec(headers[0] ?? "")?.[1] : undefined;
    if (text === undefined) throw new TokenRefused("not one bearer token");
    if (text.startsWith(TOKEN_PREFIX)) {
      const { caller, token } = await apiTokens.verify(text, options);
      notes.used(token);
      return caller;
    }
    const caller = callerOf(await idTokens.verify(text), parts.settings);
    notes.ownerSeen(caller);
    return caller;
  }

  return async (
    request: Pick<IncomingMessage, "method" | "headersDistinct">,
    mayGuess: () => boolean,
  ): Promise<AuthResult> => {
    const headers = request.headersDistinct.authorization ?? [];
    if (headers.length === 0) return { state: "none" };
    const isRead = request.method === "GET" || request.method === "HEAD";
    try {
      return { state: "caller", caller: await callerFrom(headers, { isRead, mayGuess }) };
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error;
      parts.log.warn("a credential was refused", { reason: error.message });
      return { state: "refused", told: error.told };
    }
  };
}

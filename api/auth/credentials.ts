import type { IncomingMessage } from "node:http";
import { TOKEN_PREFIX } from "../../crds/api-token.ts";
import type { ApiTokens } from "../../operator/ports/api-tokens.ts";
import type { Services } from "../services.ts";
import type { Caller } from "./access.ts";
import { apiTokenVerifier } from "./api-tokens.ts";
import { callerOf } from "./callers.ts";
import { idTokenVerifier, TokenRefused } from "./id-tokens.ts";
import { tokenNotes } from "./token-notes.ts";

/** Authenticated; refused, with the reason if the caller may know it (`detail`); or without a credential. */
export type AuthResult =
  | { readonly state: "caller"; readonly caller: Caller }
  | { readonly state: "refused"; readonly detail?: string | undefined }
  | { readonly state: "none" };

/** Dependencies of authentication. */
export interface CredentialParts extends Pick<Services, "settings" | "clock" | "log"> {
  readonly apiTokens: ApiTokens;
}

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

type Credentialed = Pick<IncomingMessage, "method" | "headersDistinct">;

/** Authenticates by the `Authorization` header alone, not by query or cookie. */
export interface Authenticator {
  /**
   * Authenticates a request, notes the use of its credential, and logs a refusal.
   *
   * @param mayGuess false: only cached API tokens are accepted
   * @throws HttpError (unavailable) when a credential can neither be accepted nor refused now
   */
  authenticate(request: Credentialed, mayGuess: () => boolean): Promise<AuthResult>;

  /**
   * True for a good credential, before the route and its limit are known: nothing is noted or logged, and only cached
   * API tokens are accepted. False while that is unknown.
   */
  isAuthentic(request: Credentialed): Promise<boolean>;
}

export function authenticator(parts: CredentialParts): Authenticator {
  const idTokens = idTokenVerifier(parts.settings.api.issuers, parts);
  const apiTokens = apiTokenVerifier(parts);
  const notes = tokenNotes(parts);

  async function verify({ method, headersDistinct }: Credentialed, mayGuess: () => boolean) {
    const headers = headersDistinct.authorization ?? [];
    const text = headers.length === 1 ? BEARER.exec(headers[0] ?? "")?.[1] : undefined;
    if (text === undefined) throw new TokenRefused("not one bearer token");
    if (text.startsWith(TOKEN_PREFIX)) {
      const isRead = method === "GET" || method === "HEAD";
      const { caller, token } = await apiTokens.verify(text, { isRead, mayGuess });
      return { caller, note: () => notes.used(token) };
    }
    const caller = callerOf(await idTokens.verify(text), parts.settings);
    return { caller, note: () => notes.ownerSeen(caller) };
  }

  return {
    async authenticate(request, mayGuess) {
      if (!hasCredential(request)) return { state: "none" };
      try {
        const { caller, note } = await verify(request, mayGuess);
        note();
        return { state: "caller", caller };
      } catch (error) {
        if (!(error instanceof TokenRefused)) throw error;
        parts.log.warn("a credential was refused", { reason: error.message });
        return { state: "refused", detail: error.detail };
      }
    },
    async isAuthentic(request) {
      if (!hasCredential(request)) return false;
      try {
        await verify(request, () => false);
        return true;
      } catch {
        // The route checks the credential again, and reports the problem.
        return false;
      }
    },
  };
}

const hasCredential = ({ headersDistinct }: Credentialed) => (headersDistinct.authorization ?? []).length > 0;

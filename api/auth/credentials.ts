import type { IncomingMessage } from "node:http";
import type { Settings } from "../../config/settings.ts";
import { TOKEN_PREFIX } from "../../crds/api-token.ts";
import type { ApiTokens } from "../../operator/ports/api-tokens.ts";
import type { Clock } from "../../operator/ports/clock.ts";
import type { Log } from "../../operator/ports/log.ts";
import { apiTokenProofs, type Occasion } from "./api-tokens.ts";
import { type Caller, callerOf } from "./callers.ts";
import { idTokens, TokenRefused } from "./id-tokens.ts";
import { tokenNotes } from "./token-notes.ts";

/** `caller` when the request proves one, `refused` when what it brought proves nothing, `none` when it brought nothing. */
export type AuthResult =
  | { readonly state: "caller"; readonly caller: Caller }
  | { readonly state: "refused"; readonly told?: string | undefined }
  | { readonly state: "none" };

/** What recognising callers takes. */
export interface CredentialParts {
  readonly settings: Settings;
  readonly apiTokens: Pick<ApiTokens, "known" | "readClaimed" | "ofOwner" | "vouch" | "noteUse">;
  readonly clock: Clock;
  readonly log: Log;
}

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/**
 * Reads the request's `Authorization` header, and no other place: not the query, not a cookie.
 *
 * Its function is told whether unknown API tokens are worth a question to the cluster, and throws Refusal (unavailable) when a credential can neither be accepted nor refused now.
 */
export function authenticator(parts: CredentialParts) {
  const identities = idTokens(parts.settings.api.issuers, parts);
  const proofs = apiTokenProofs(parts);
  const notes = tokenNotes(parts);

  async function callerFrom(headers: readonly string[], occasion: Occasion): Promise<Caller> {
    const text = headers.length === 1 ? BEARER.exec(headers[0] ?? "")?.[1] : undefined;
    if (text === undefined) throw new TokenRefused("not one bearer token");
    if (text.startsWith(TOKEN_PREFIX)) {
      const { caller, token } = await proofs.verify(text, occasion);
      notes.used(token);
      return caller;
    }
    const caller = callerOf(await identities.verify(text), parts.settings);
    notes.ownerSeen(caller);
    return caller;
  }

  return async (request: IncomingMessage, log: Log, mayGuess: () => boolean): Promise<AuthResult> => {
    const headers = request.headersDistinct.authorization ?? [];
    if (headers.length === 0) return { state: "none" };
    const isRead = request.method === "GET" || request.method === "HEAD";
    try {
      return { state: "caller", caller: await callerFrom(headers, { isRead, mayGuess }) };
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error;
      log.warn("a credential was refused", { reason: error.message });
      return { state: "refused", told: error.told };
    }
  };
}

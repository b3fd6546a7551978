import type { IncomingMessage } from "node:http";
import type { Settings } from "../../config/settings.ts";
import type { Log } from "../../operator/kit/log.ts";
import { type Caller, callerOf } from "./callers.ts";
import { type IdTokens, TokenRefused } from "./id-tokens.ts";

/** `caller` when the request proves one, `refused` when what it brought proves nothing, `none` when it brought nothing. */
export type Proof =
  | { readonly state: "caller"; readonly caller: Caller }
  | { readonly state: "refused" }
  | { readonly state: "none" };

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/** Reads the request's `Authorization` header, and no other place: not the query, not a cookie. */
export function authenticator(tokens: IdTokens, settings: Settings) {
  const callerFrom = async (headers: readonly string[]): Promise<Caller> => {
    const token = headers.length === 1 ? BEARER.exec(headers[0] ?? "")?.[1] : undefined;
    if (token === undefined) throw new TokenRefused("not one bearer token");
    return callerOf(await tokens.verify(token), settings);
  };
  return async (request: IncomingMessage, log: Log): Promise<Proof> => {
    const headers = request.headersDistinct.authorization ?? [];
    if (headers.length === 0) return { state: "none" };
    try {
      return { state: "caller", caller: await callerFrom(headers) };
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error;
      log.warn("a credential was refused", { reason: error.message });
      return { state: "refused" };
    }
  };
}

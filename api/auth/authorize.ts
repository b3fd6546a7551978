import type { Request, Response } from "express";
import { HttpError } from "../errors.ts";
import type { Limits } from "../limits/limits.ts";
import { currentRequest } from "../request-context.ts";
import type { Access, Contract } from "../route.ts";
import type { Caller } from "./access.ts";
import type { Authenticator, AuthResult } from "./credentials.ts";

/** Dependencies of authentication and rate limits. */
export interface AuthParts {
  readonly limits: Limits;
  readonly authenticate: Authenticator["authenticate"];
}

/**
 * Checks credential, rate limit, then permission, before the body is read.
 *
 * @throws HttpError (unauthenticated, forbidden, rate-limited, unavailable)
 */
export async function authorize(
  { access, rate, budget }: Contract,
  parts: AuthParts,
  request: Request,
  response: Response,
): Promise<Caller | undefined> {
  if (access === "public" && (rate === "none" || rate === "sender")) return undefined;
  if (rate === "webhook" || rate === "page") return parts.limits[rate](request, response).then(() => undefined);
  const caller = await authenticateAndCount(access, parts, request, response);
  if (budget !== undefined) await parts.limits[budget](request, response);
  return caller;
}

/**
 * Counts a request without a route, by caller, and sets its `X-RateLimit-*` headers.
 *
 * @throws HttpError (rate-limited)
 */
export async function countRequest(parts: AuthParts, request: Request, response: Response): Promise<void> {
  await authenticateAndCount("public", parts, request, response);
}

/**
 * Authorizes the caller again during a stream; counts nothing.
 *
 * @throws HttpError (unauthenticated, forbidden, unavailable) for a caller who would be refused now
 */
export async function reauthorize(access: Access, parts: AuthParts, request: Request): Promise<Caller> {
  const result = await authenticateRequest(parts, request);
  if (result.state !== "caller") throw unauthenticated(result);
  checkAccess(access, result.caller);
  return result.caller;
}

async function authenticateAndCount(
  access: Access,
  parts: AuthParts,
  request: Request,
  response: Response,
): Promise<Caller | undefined> {
  const { limits } = parts;
  const context = currentRequest();
  const result = await resultOf(access, parts, request, response);
  if (result.state !== "caller") {
    context.isCredentialRefused = result.state === "refused";
    await limits.unauthenticated(request, response);
    if (access === "public") return undefined;
    throw unauthenticated(result);
  }
  context.caller = result.caller;
  await limits.authenticated(request, response, result.caller);
  checkAccess(access, result.caller);
  return result.caller;
}

function checkAccess(access: Access, { permissions, method }: Caller): void {
  if (typeof access === "string") return;
  if (access.proof !== undefined && method !== access.proof) {
    throw new HttpError("forbidden", "This needs an ID token: an API token is not enough");
  }
  if (!permissions.has(access.permission)) {
    throw new HttpError("forbidden", `This needs the permission ${access.permission}`);
  }
}

/**
 * Authenticates. While that is impossible, public routes see a caller without a credential; for others the address pays
 * as for a refused one, or such requests could be made, and recorded, without end.
 */
async function resultOf(access: Access, parts: AuthParts, request: Request, response: Response): Promise<AuthResult> {
  try {
    return await authenticateRequest(parts, request);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    if (access === "public") return { state: "none" };
    await parts.limits.unauthenticated(request, response);
    throw error;
  }
}

/** An address at its limit may not guess API tokens; the limit itself is checked only afterwards. */
const authenticateRequest = ({ authenticate, limits }: AuthParts, request: Request): Promise<AuthResult> =>
  authenticate(request, () => !limits.isSpent(request));

function unauthenticated(result: Exclude<AuthResult, { readonly state: "caller" }>): HttpError {
  if (result.state === "none") return new HttpError("unauthenticated", "Authentication required");
  return new HttpError("unauthenticated", result.detail ?? "Invalid or expired credentials");
}

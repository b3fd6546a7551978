import type { Request, Response } from "express";
import type { Log } from "../../operator/ports/log.ts";
import { auditedOf } from "../audit.ts";
import { HttpError } from "../http-error.ts";
import type { Limits } from "../limits/limits.ts";
import { currentRequestId } from "../request-context.ts";
import type { Access, Contract } from "../route.ts";
import type { Caller } from "./callers.ts";
import type { AuthResult, authenticator } from "./credentials.ts";

/** What finding out who calls, and counting it, takes. */
export interface Admission {
  readonly limits: Limits;
  readonly authenticate: ReturnType<typeof authenticator>;
  readonly log: Log;
}

/** Who may pass: the credential first, then the budget that is theirs, then the permission; the body is not read before. */
export async function authorize(
  contract: Contract,
  admission: Admission,
  request: Request,
  response: Response,
): Promise<Caller | undefined> {
  if (contract.access === "public" && contract.rate === "none") return undefined;
  const caller = await authenticate(contract.access, admission, request, response);
  if (contract.budget !== undefined) await admission.limits[contract.budget](request, response);
  return caller;
}

/**
 * Counts a request that no route answers, by caller as every other one, and sets its `X-RateLimit-*` headers.
 *
 * @throws Refusal (rate-limited)
 */
export async function countRequest(admission: Admission, request: Request, response: Response): Promise<void> {
  await authenticate("public", admission, request, response);
}

/**
 * The caller, proved anew while an answer goes on; spends nothing.
 *
 * @throws Refusal (unauthenticated, forbidden, unavailable) for one that would not be let in now
 */
export async function proveAgain(access: Access, admission: Admission, request: Request): Promise<Caller> {
  const proof = await proven(admission, request);
  if (proof.state !== "caller") throw unproven(proof);
  checkAccess(access, proof.caller);
  return proof.caller;
}

async function authenticate(
  access: Access,
  admission: Admission,
  request: Request,
  response: Response,
): Promise<Caller | undefined> {
  const { limits } = admission;
  const proof = await proofOf(access, admission, request, response);
  if (proof.state !== "caller") {
    auditedOf(response).isCredentialRefused = proof.state === "refused";
    await limits.unauthenticated(request, response);
    if (access === "public") return undefined;
    throw unproven(proof);
  }
  auditedOf(response).caller = proof.caller;
  await limits.authenticated(request, response, proof.caller.token?.id ?? proof.caller.subject);
  checkAccess(access, proof.caller);
  return proof.caller;
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
 * What the request proves. That nobody can be recognised now must not make fail what is open to everybody; for all else it
 * costs the address as much as a credential that proves nothing, or such requests could be made, and recorded, without end.
 */
async function proofOf(
  access: Access,
  admission: Admission,
  request: Request,
  response: Response,
): Promise<AuthResult> {
  try {
    return await proven(admission, request);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    if (access === "public") return { state: "none" };
    await admission.limits.unauthenticated(request, response);
    throw error;
  }
}

/** Whoever has spent the budget of guesses is a guesser still: the limit comes after the proof, which asks the cluster. */
const proven = ({ authenticate, limits, log }: Admission, request: Request): Promise<AuthResult> =>
  authenticate(request, log.with({ requestId: currentRequestId() }), () => !limits.isSpent(request));

function unproven(proof: Exclude<AuthResult, { readonly state: "caller" }>): HttpError {
  if (proof.state === "none") return new HttpError("unauthenticated", "Authentication required");
  return new HttpError("unauthenticated", proof.told ?? "Invalid or expired credentials");
}

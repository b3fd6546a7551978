import type { Request, Response } from "express";
import type { Actor, AuditRecord, AuditTrail } from "../operator/ports/audit-trail.ts";
import { isPrivilege } from "./auth/access.ts";
import type { Caller } from "./auth/callers.ts";
import { HttpError } from "./http-error.ts";
import { concernedSoFar, currentAuditId, currentRequestId } from "./request-context.ts";
import type { Contract } from "./route.ts";

/** A client that is told to come back has this long to wait. */
const RETRY_SECONDS = 10;
/** Of what a caller named; in the path, nothing has judged it yet. */
const MAX_NAMED_CHARS = 100;
/** An API token, or its end alone; an ID token. No name or id of ours looks like one. */
const CREDENTIAL = /(?:svc_|eyJ)[\w.~+/=-]*|(?=[a-z0-9-]*[A-Z_])[\w-]{43,}/g;
const UNAUTHENTICATED_STATUS = 401;
const FORBIDDEN_STATUS = 403;
const FIRST_REFUSAL = 400;
const FIRST_FAULT = 500;

/** What of a request its record needs; found out bit by bit while it is served. */
export interface Audited {
  contract?: Contract;
  caller?: Caller;
  /** Whether it brought a credential that proved nothing. */
  isCredentialRefused?: boolean;
  /** What it is about, as its input names it. */
  concerns?: string | undefined;
  /** Why, as its input says it. */
  note?: string | undefined;
  isRecorded?: boolean;
}

/** How a request is answered. */
export interface Answer {
  readonly status: number;
  readonly errorCode?: string | undefined;
  readonly error?: unknown;
}

/** The facts of a request; they live as long as its response. */
export const auditedOf = (response: Response): Audited => response.locals as Audited;

/** Begins with what the address alone says, so that also a refusal before anything is read names it. */
export function beginRecord(request: Request, response: Response, contract: Contract): Audited {
  const [named] = Object.values(request.params);
  return Object.assign(auditedOf(response), { contract, concerns: writable(named) });
}

/** Adds what a route says that its input is about. */
export function setAuditTarget(audited: Audited, concern: string | undefined): void {
  audited.concerns = writable(concern) ?? audited.concerns;
}

/** Adds why its caller wants it. */
export function setAuditReason(audited: Audited, reason: string | undefined): void {
  audited.note = reason?.replaceAll(CREDENTIAL, "***");
}

/** A name as records and logs may hold it: people put credentials where names belong. */
function writable(named: unknown): string | undefined {
  return typeof named === "string" ? named.slice(0, MAX_NAMED_CHARS).replaceAll(CREDENTIAL, "***") : undefined;
}

/**
 * Refuses what is privileged while its record could not be kept: nobody may use power over others unseen.
 *
 * @throws Refusal (unavailable)
 */
export async function checkRecordable(trail: AuditTrail, { contract, caller }: Audited): Promise<void> {
  if (contract?.auditTarget === undefined || caller === undefined) return;
  const permission = typeof contract.access === "string" ? undefined : contract.access.permission;
  // Whoever may change all environments changes mostly others'.
  const isPowerful = contract.method !== "get" && caller.permissions.has("environments:all");
  if (!(isPowerful || isPrivilege(permission)) || (await trail.isKept())) return;
  throw new HttpError("unavailable", "The audit log can't be written now", { retryAfterSeconds: RETRY_SECONDS });
}

/**
 * Records how a request is answered, before it is, if that is worth a record: every change that was asked for, reads that
 * say what they concern, and every credential and every right that was not enough. Resolves when it is kept or can't be.
 */
export async function recordAnswer(
  trail: AuditTrail,
  { request, response }: { readonly request: Request; readonly response: Response },
  answer: Answer,
): Promise<void> {
  const audited = auditedOf(response);
  const event = eventOf(audited, answer);
  if (event === undefined || audited.isRecorded || isRepetition(answer.error)) return;
  audited.isRecorded = true;
  const { contract, caller, concerns, note } = audited;
  await trail.add({
    auditId: currentAuditId() ?? "",
    ...present({
      requestId: currentRequestId(),
      from: addressOf(request),
      concerns,
      note,
      errorCode: answer.errorCode,
    }),
    event,
    action: contract?.operationId ?? "",
    actor: actorOf(caller),
    objects: concernedSoFar(),
    outcome: outcomeOf(audited, answer),
    status: answer.status,
  });
}

function eventOf({ contract, isCredentialRefused }: Audited, { status }: Answer): AuditRecord["event"] | undefined {
  if (isCredentialRefused) return "credential";
  if (contract === undefined) return undefined;
  const isRead = contract.method === "get";
  if (contract.auditTarget !== undefined && isAboutCredentials(contract)) return "credential";
  if (contract.auditTarget !== undefined) return isRead ? "read" : "change";
  return status === UNAUTHENTICATED_STATUS || status === FORBIDDEN_STATUS ? "denial" : undefined;
}

function outcomeOf({ isCredentialRefused }: Audited, { status }: Answer): AuditRecord["outcome"] {
  if (isCredentialRefused) return "refused";
  if (status < FIRST_REFUSAL) return "accepted";
  return status < FIRST_FAULT ? "refused" : "failed";
}

const isAboutCredentials = ({ tag }: Contract) => tag === "tokens" || tag === "account";

/** Of a row of requests beyond a limit the first is recorded: a flood must not wash other records away. */
const isRepetition = (error: unknown) => error instanceof HttpError && error.isRepetition;

function actorOf(caller: Caller | undefined): Actor {
  if (caller === undefined) return { method: "none" };
  const { subject, method, token } = caller;
  return { subject, method, ...(token === undefined ? {} : { tokenId: token.id }) };
}

/** IPv4 in its own form, whatever the socket says. */
const addressOf = ({ ip }: Request) => ip?.replace(/^::ffff:(?=\d+\.)/i, "");

/** Without the fields that are not there. */
function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(there) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

import type { Actor, AuditRecord, AuditTrail } from "../operator/ports/audit-trail.ts";
import { isPrivilege } from "./auth/access.ts";
import { ERRORS, HttpError } from "./errors.ts";
import { currentRequest, type RequestContext } from "./request-context.ts";
import type { Contract, RouteInput } from "./route.ts";

const RETRY_SECONDS = 10;
/** Names in paths may have any length before the checks. */
const MAX_TARGET_CHARS = 100;
/** An API token, or its end alone; an ID token. No name or id of the platform looks like one. */
const CREDENTIAL = /(?:svc_|eyJ)[\w.~+/=-]*|(?=[a-z0-9-]*[A-Z_])[\w-]{43,}/g;
const FIRST_REFUSAL = 400;
const FIRST_FAULT = 500;

interface Answer {
  readonly status: number;
  readonly errorCode?: string | undefined;
  readonly error?: unknown;
}

/** Notes route and path's target for the record of an early refusal. */
export function beginRecord(contract: Contract, params: Readonly<Record<string, unknown>>): void {
  const [target] = Object.values(params);
  Object.assign(currentRequest(), { contract, auditTarget: typeof target === "string" ? masked(target) : undefined });
}

/** Adds target and reason by the route's contract, after the input's validation. */
export function describeRecord(contract: Contract, input: RouteInput): void {
  const context = currentRequest();
  const target = contract.auditTarget?.(input);
  if (target !== undefined) context.auditTarget = masked(target);
  context.auditReason = contract.auditReason?.(input)?.replaceAll(CREDENTIAL, "***");
}

/** Masks credentials, which people put where names belong. */
function masked(name: string): string {
  return name.slice(0, MAX_TARGET_CHARS).replaceAll(CREDENTIAL, "***");
}

/**
 * Refuses a privileged change whose audit record could not be kept.
 *
 * @throws HttpError (unavailable)
 */
export async function checkRecordable(trail: AuditTrail): Promise<void> {
  const { contract, caller } = currentRequest();
  if (contract?.auditTarget === undefined || caller === undefined) return;
  const permission = typeof contract.access === "string" ? undefined : contract.access.permission;
  // A caller who may change all environments changes mostly others'.
  const isPowerful = contract.method !== "get" && caller.permissions.has("environments:all");
  if (!(isPowerful || isPrivilege(permission)) || (await trail.isKept())) return;
  throw new HttpError("unavailable", "The audit log can't be written now", { retryAfterSeconds: RETRY_SECONDS });
}

/**
 * Records the answer to a request before it is sent: changes, reads with an audit target, and refused credentials and
 * permissions. Resolves when the record is kept or can't be.
 */
export async function recordAnswer(trail: AuditTrail, answer: Answer): Promise<void> {
  const context = currentRequest();
  const event = eventOf(context, answer);
  if (event === undefined || context.isRecorded || isRepetition(answer.error)) return;
  context.isRecorded = true;
  const { auditId, requestId, address, auditTarget, auditReason } = context;
  await trail.add({
    auditId,
    requestId,
    event,
    action: context.contract?.operationId ?? "",
    ...present({
      from: withoutMapping(address),
      target: auditTarget,
      reason: auditReason,
      errorCode: answer.errorCode,
    }),
    actor: actorOf(context),
    objects: [...context.auditObjects.values()],
    outcome: outcomeOf(context, answer),
    status: answer.status,
  });
}

function eventOf(
  { contract, isCredentialRefused }: RequestContext,
  { status }: Answer,
): AuditRecord["event"] | undefined {
  if (isCredentialRefused) return "credential";
  if (contract === undefined) return undefined;
  if (contract.auditTarget !== undefined && isAboutCredentials(contract)) return "credential";
  if (contract.auditTarget !== undefined) return contract.method === "get" ? "read" : "change";
  return status === ERRORS.unauthenticated.status || status === ERRORS.forbidden.status ? "denial" : undefined;
}

function outcomeOf({ isCredentialRefused }: RequestContext, { status }: Answer): AuditRecord["outcome"] {
  if (isCredentialRefused) return "refused";
  if (status < FIRST_REFUSAL) return "accepted";
  return status < FIRST_FAULT ? "refused" : "failed";
}

const isAboutCredentials = ({ tag }: Contract) => tag === "tokens" || tag === "account";

/** Only the first of several refusals by a limit is recorded: a flood must not displace other records. */
const isRepetition = (error: unknown) => error instanceof HttpError && error.isRepetition;

function actorOf({ caller, linkOwner }: RequestContext): Actor {
  if (linkOwner !== undefined) return { subject: linkOwner, method: "link" };
  if (caller === undefined) return { method: "none" };
  const { subject, method, token } = caller;
  return { subject, method, ...(token === undefined ? {} : { tokenId: token.id }) };
}

/** Unwraps an IPv4 address that is mapped into IPv6. */
const withoutMapping = (address: string | undefined) => address?.replace(/^::ffff:(?=\d+\.)/i, "");

function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(there) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

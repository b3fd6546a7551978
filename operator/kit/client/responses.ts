import { type IncomingHttpHeaders, STATUS_CODES } from "node:http";
import type { CutBy } from "../time/deadline.ts";
import { type FieldCause, KubeError } from "./errors.ts";
import type { KubeResponse } from "./request.ts";

interface StatusBody {
  readonly reason?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly details?: {
    readonly causes?: unknown;
    readonly kind?: unknown;
    readonly retryAfterSeconds?: unknown;
  } | null;
}

/** @throws KubeError for a response of 400 and above */
export function assertAccepted(response: KubeResponse): void {
  if (response.status < 400) return;
  throw errorOfStatus(response.status, response.body, response.headers["retry-after"]);
}

/** The error for the body of a refused call, `Status` or other. */
function errorOfStatus(status: number, body: unknown, retryAfter?: string): KubeError {
  const facts: StatusBody = typeof body === "object" && body !== null ? body : {};
  return new KubeError({
    status,
    reason: textOf(facts.reason) || reasonOf(status),
    causes: causesOf(facts.details?.causes),
    kind: textOf(facts.details?.kind),
    detail: textOf(facts.message),
    retryAfterSeconds: retryAfterSeconds(retryAfter, facts),
  });
}

/** The error for an in-stream `ERROR` event. */
export function errorOfEvent(object: unknown): KubeError {
  const code = typeof object === "object" && object !== null && "code" in object ? Number(object.code) : Number.NaN;
  return errorOfStatus(Number.isInteger(code) ? code : 500, object);
}

/** Turns undici's errors into a KubeError; an invalid request of ours stays as thrown. */
export function errorOfWire(error: unknown, cutBy: CutBy | undefined): unknown {
  if (error instanceof KubeError) return error;
  if (cutBy !== undefined) {
    return new KubeError({ status: 0, reason: cutBy === "deadline" ? "Timeout" : "Aborted", cause: error });
  }
  const code = codeOf(error);
  if (code === undefined || code === "UND_ERR_INVALID_ARG") return error;
  return new KubeError({ status: 0, reason: code.includes("TIMEOUT") ? "Timeout" : "Unreachable", cause: error });
}

/** One value per name; no header used here repeats. */
export function flatHeaders(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
}

function codeOf(error: unknown): string | undefined {
  return typeof error === "object" && error !== null && "code" in error ? textOf(error.code) : undefined;
}

const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);

function reasonOf(status: number): string {
  return (STATUS_CODES[status] ?? "Unknown").replaceAll(/[^A-Za-z]/g, "");
}

/** Seconds of the header (the API server never sends a date), else `details.retryAfterSeconds`. */
function retryAfterSeconds(header: string | undefined, facts: StatusBody): number | undefined {
  const seconds = Number(header ?? facts.details?.retryAfterSeconds ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
}

function causesOf(causes: unknown): FieldCause[] {
  if (!Array.isArray(causes)) return [];
  return causes.filter((cause): cause is FieldCause => typeof cause === "object" && cause !== null);
}

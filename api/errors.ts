import {
  ClusterUnavailable,
  ConfigInvalid,
  CreationFailed,
  DomainError,
  EnvironmentConflict,
  EnvironmentNotFound,
  type ErrorCode,
  HostUnavailable,
  NameExists,
  RepositoryNotFound,
  SecretsUnavailable,
  TtlExceeded,
  UnknownRepository,
} from "../crds/errors.ts";
import { HttpError, type HttpErrorKind } from "./http-error.ts";
import { type ProblemBody, toProblem } from "./views/problem.ts";

/** An error as HTTP answers it. */
export interface Problem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ProblemBody;
}

/** The status of a reply that is no error and yet says that the service can't serve (`GET /api/ready`). */
export const UNAVAILABLE_STATUS = 503;
/** Its headers: dependencies are asked every two seconds at most, so that sooner than in a few nothing can be new. */
export const UNAVAILABLE_HEADERS: Readonly<Record<string, string>> = { "Retry-After": "5" };

const STATUS_OF_REFUSAL: Readonly<Record<HttpErrorKind, number>> = {
  malformed: 400,
  unauthenticated: 401,
  forbidden: 403,
  "not-found": 404,
  conflict: 409,
  "method-not-allowed": 405,
  "too-large": 413,
  "unsupported-media-type": 415,
  "rate-limited": 429,
  unavailable: 503,
};

const STATUS_OF_CODE: Readonly<Record<ErrorCode, number>> = {
  ENV_NAME_EXISTS: 400,
  ENV_NOT_FOUND: 404,
  ENV_CREATION_FAILED: 500,
  ENV_TTL_EXCEEDED: 400,
  ENV_REPO_NOT_FOUND: 400,
  ENV_CONFIG_INVALID: 400,
};

/** Every status an error of a route can have, with its meaning: for the OpenAPI document. */
export const PROBLEM_MEANINGS: Readonly<Record<number, string>> = {
  400: "What was sent is wrong; every violation is named",
  401: "No credential, or one that is not accepted",
  403: "The caller may not do this",
  404: "Not found, or not visible to the caller",
  405: "The path has other methods (see Allow)",
  409: "The state of the resource forbids it now",
  413: "The body is too large",
  415: "The body's type is not accepted",
  429: "Too many requests; Retry-After says when to go on",
  500: "A fault of the service",
  503: "A dependency can't be reached; Retry-After says when to try again",
};

/** The status with which an error code is answered; the same code for an unreachable cluster is 503. */
export function statusOfCode(code: ErrorCode): number {
  return STATUS_OF_CODE[code];
}

/** The status with which a refusal of this kind is answered. */
export function statusOfRefusal(kind: HttpErrorKind): number {
  return STATUS_OF_REFUSAL[kind];
}

/** Whether somebody should look into it: everything that neither the domain nor the interface refused on purpose. */
export function isFault(error: unknown): boolean {
  return !(error instanceof HttpError || (error instanceof DomainError && !(error instanceof CreationFailed)));
}

/**
 * The answer to an error. `codes` are those the route declares: a code that a route does not know is left out.
 * A fault answers the same sentence whatever happened, so that nothing internal leaves the process.
 */
export function problemOf(error: unknown, codes: readonly ErrorCode[], now: Date): Problem {
  if (error instanceof HttpError) return refusalProblem(error, now);
  const status = statusOf(error);
  const code = error instanceof DomainError ? error.code : "ENV_CREATION_FAILED";
  const shown = code !== undefined && codes.includes(code) ? code : undefined;
  const body = toProblem({ status, detail: detailOf(error, shown), code: shown, now });
  return { status, headers: headersOf(error), body };
}

function refusalProblem(refusal: HttpError, now: Date): Problem {
  const status = STATUS_OF_REFUSAL[refusal.kind];
  return {
    status,
    headers: {
      ...retryAfter(refusal.retryAfterSeconds),
      ...(refusal.allow === undefined ? {} : { Allow: refusal.allow }),
      ...(refusal.kind === "unauthenticated" ? { "WWW-Authenticate": "Bearer" } : {}),
    },
    body: toProblem({ status, detail: refusal.message, now }),
  };
}

/** What the service stands on can't be reached now; it says so itself, and when to try again. */
function isOutage(error: unknown): error is Outage {
  return OUTAGES.some((kind) => error instanceof kind);
}

const OUTAGES = [ClusterUnavailable, SecretsUnavailable, HostUnavailable] as const;
type Outage = InstanceType<(typeof OUTAGES)[number]>;

function statusOf(error: unknown): number {
  if (isOutage(error)) return UNAVAILABLE_STATUS;
  if (error instanceof EnvironmentConflict) return 409;
  // The code is a 400 where it is about a field of the request.
  if (error instanceof UnknownRepository) return 404;
  return error instanceof DomainError && error.code !== undefined ? STATUS_OF_CODE[error.code] : 500;
}

const SPOKEN = [
  NameExists,
  EnvironmentNotFound,
  TtlExceeded,
  RepositoryNotFound,
  UnknownRepository,
  ConfigInvalid,
  EnvironmentConflict,
];

function detailOf(error: unknown, code: ErrorCode | undefined): string {
  if (isOutage(error)) return error.message;
  if (error instanceof DomainError && SPOKEN.some((kind) => error instanceof kind)) return error.message;
  return code === undefined ? "Internal server error" : "Failed to create environment";
}

function headersOf(error: unknown): Record<string, string> {
  const retries = isOutage(error) || error instanceof NameExists;
  return retries ? retryAfter(error.retryAfterSeconds) : {};
}

function retryAfter(seconds: number | undefined): Record<string, string> {
  return seconds === undefined ? {} : { "Retry-After": String(Math.max(1, Math.ceil(seconds))) };
}

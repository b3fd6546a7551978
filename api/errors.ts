import type { ErrorCode, Violation } from "../crds/errors.ts";

/** Answer to an error. */
export interface ErrorRow {
  readonly status: number;
  /** Meaning of the status for any route, in one of its rows. */
  readonly meaning?: string;
  /** Detail in the document's examples; of faults, the one that is always answered. */
  readonly example: string;
  readonly violations?: readonly Violation[];
}

/** Every error of the REST interface: kinds without a code, then the contract's codes. */
export const ERRORS = {
  malformed: {
    status: 400,
    meaning: "The request is wrong; every violation is named",
    example: "The body is not valid JSON",
  },
  unauthenticated: {
    status: 401,
    meaning: "No credential, or one that is not accepted",
    example: "Authentication required",
  },
  forbidden: {
    status: 403,
    meaning: "The caller may not do this",
    example: "This needs the permission environments:create",
  },
  "not-found": { status: 404, meaning: "Not found, or not visible to the caller", example: "Not found" },
  "method-not-allowed": {
    status: 405,
    meaning: "The path has other methods (see Allow)",
    example: "Method not allowed",
  },
  conflict: {
    status: 409,
    meaning: "The state of the resource forbids it now",
    example: "The environment is being deleted",
  },
  "too-large": { status: 413, meaning: "The body is too large", example: "The body may have 524288 bytes at most" },
  "unsupported-media-type": {
    status: 415,
    meaning: "The body's type is not accepted",
    example: "Send the body as application/json",
  },
  "rate-limited": {
    status: 429,
    meaning: "Too many requests; Retry-After says when to go on",
    example: "Too many requests",
  },
  fault: { status: 500, meaning: "A fault of the service", example: "Internal server error" },
  unavailable: {
    status: 503,
    meaning: "A dependency can't be reached; Retry-After says when to try again",
    example: "The Kubernetes API can't be reached",
  },
  ENV_NAME_EXISTS: { status: 400, example: "Environment name already exists" },
  ENV_NOT_FOUND: { status: 404, example: "Environment not found" },
  // A fault during a creation; of a dependency it is `unavailable`.
  ENV_CREATION_FAILED: { status: 500, example: "Failed to create environment" },
  ENV_TTL_EXCEEDED: { status: 400, example: "TTL exceeds the maximum of 168 hours" },
  // For a field of the request; for an address it is `not-found` with this code.
  ENV_REPO_NOT_FOUND: { status: 400, example: "backend_repo: no backend repository 'shop-api' is registered" },
  ENV_CONFIG_INVALID: {
    status: 400,
    example: "environment_name: is required; ttl: must be an integer",
    violations: [
      { field: "environment_name", message: "is required" },
      { field: "ttl", message: "must be an integer" },
    ],
  },
} as const satisfies Readonly<Record<ErrorCode, ErrorRow> & Record<string, ErrorRow>>;

/** Errors of the API itself, beside the domain's. */
export type HttpErrorKind = Exclude<keyof typeof ERRORS, ErrorCode | "fault">;

/** Errors in a route's contract: codes, and kinds that don't follow from its other parts. */
export type RouteError = ErrorCode | "not-found" | "conflict" | "forbidden" | "unavailable";

/** Error codes of the REST contract. */
export const ERROR_CODES = Object.keys(ERRORS).filter(isErrorCode);

/** True for a code of the REST contract. */
export function isErrorCode(name: string): name is ErrorCode {
  return name.startsWith("ENV_");
}

interface HttpErrorFacts {
  /** Seconds until a retry makes sense. */
  readonly retryAfterSeconds?: number;
  /** Methods of the path, when the method was wrong. */
  readonly allow?: string;
  readonly violations?: readonly Violation[];
  /** True for a repeated refusal of the same reason. */
  readonly isRepetition?: boolean;
  readonly cause?: unknown;
}

/** A refused request; `detail` is for the caller: no internals, no credential. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly kind: HttpErrorKind;
  readonly retryAfterSeconds: number | undefined;
  readonly allow: string | undefined;
  readonly violations: readonly Violation[];
  readonly isRepetition: boolean;

  constructor(
    kind: HttpErrorKind,
    detail: string,
    { retryAfterSeconds, allow, violations, isRepetition, ...options }: HttpErrorFacts = {},
  ) {
    super(detail, options);
    this.kind = kind;
    this.retryAfterSeconds = retryAfterSeconds;
    this.allow = allow;
    this.violations = violations ?? [];
    this.isRepetition = isRepetition ?? false;
  }
}

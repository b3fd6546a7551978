import type { Static } from "typebox";
import {
  ClusterUnavailable,
  CreationFailed,
  DomainError,
  EnvironmentConflict,
  HostUnavailable,
  SecretsUnavailable,
  UnknownRepository,
} from "../crds/errors.ts";
import { ERRORS, HttpError, type RouteError } from "./errors.ts";
import type { Problem as ProblemSchema } from "./schemas/fields.ts";

/** An error as HTTP answers it. */
export interface Problem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Static<typeof ProblemSchema>;
}

/** Domain errors whose row of the table is not that of their code. */
const KINDS = [
  [ClusterUnavailable, "unavailable"],
  [SecretsUnavailable, "unavailable"],
  [HostUnavailable, "unavailable"],
  [EnvironmentConflict, "conflict"],
  [UnknownRepository, "not-found"],
] as const;

/** Whether the error is a fault of the platform: neither the domain nor the interface refused on purpose. */
export function isFault(error: unknown): boolean {
  return !(error instanceof HttpError || (error instanceof DomainError && !(error instanceof CreationFailed)));
}

/**
 * The answer to an error. `errors` are those that the route lists: a code that it does not list is left out. Every fault
 * answers the same sentence, so that nothing internal leaves the process.
 */
export function problemOf(error: unknown, errors: readonly RouteError[], now: Date): Problem {
  const code = error instanceof HttpError ? undefined : codeOf(error);
  const shown = code !== undefined && errors.includes(code) ? code : undefined;
  const { status } = ERRORS[kindOf(error)];
  const detail = isFault(error) ? ERRORS[shown ?? "fault"].example : (error as Error).message;
  return { status, headers: headersOf(error), body: problemBody({ status, detail, code: shown, now }) };
}

/** The body of an error; `error_code` is left out where the contract names none. */
export function problemBody({
  status,
  detail,
  code,
  now,
}: {
  readonly status: number;
  readonly detail: string;
  readonly code?: Problem["body"]["error_code"];
  readonly now: Date;
}): Problem["body"] {
  return {
    detail,
    status_code: status,
    ...(code === undefined ? {} : { error_code: code }),
    timestamp: now.toISOString(),
  };
}

const codeOf = (error: unknown) => (error instanceof DomainError ? error.code : "ENV_CREATION_FAILED");

function kindOf(error: unknown): keyof typeof ERRORS {
  if (error instanceof HttpError) return error.kind;
  const [, kind] = KINDS.find(([type]) => error instanceof type) ?? [];
  return kind ?? (error instanceof DomainError ? error.code : undefined) ?? "fault";
}

function headersOf(error: unknown): Record<string, string> {
  const { allow, retryAfterSeconds } = isFault(error) ? {} : (error as Pick<HttpError, "allow" | "retryAfterSeconds">);
  const isUnauthenticated = error instanceof HttpError && error.kind === "unauthenticated";
  return {
    ...(retryAfterSeconds === undefined ? {} : { "Retry-After": String(Math.max(1, Math.ceil(retryAfterSeconds))) }),
    ...(allow === undefined ? {} : { Allow: allow }),
    ...(isUnauthenticated ? { "WWW-Authenticate": "Bearer" } : {}),
  };
}

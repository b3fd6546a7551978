import type { Static } from "typebox";
import {
  ClusterUnavailable,
  CreationFailed,
  DomainError,
  EnvironmentConflict,
  HostUnavailable,
  SecretsUnavailable,
  UnknownRepository,
  type Violation,
} from "../crds/errors.ts";
import { present } from "../crds/present.ts";
import { ERRORS, HttpError, type RouteError } from "./errors.ts";
import type { Version } from "./route.ts";
import type { Problem } from "./schemas/fields.ts";

/** HTTP answer to an error. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Static<typeof Problem>;
}

/** Domain errors in another row than their code's. */
const KINDS = [
  [ClusterUnavailable, "unavailable"],
  [SecretsUnavailable, "unavailable"],
  [HostUnavailable, "unavailable"],
  [EnvironmentConflict, "conflict"],
  [UnknownRepository, "not-found"],
] as const;

/** True for a fault, no deliberate refusal. */
export function isFault(error: unknown): boolean {
  return !(error instanceof HttpError || (error instanceof DomainError && !(error instanceof CreationFailed)));
}

/** Parts of the route that decide the answer. */
interface Requested {
  /** Listed errors; other codes are left out. */
  readonly errors: readonly RouteError[];
  /** Version 1 has no `violations`. */
  readonly version: Version;
}

/** Answer to an error. All faults have the same sentence, so that nothing internal leaks. */
export function problemOf(error: unknown, { errors, version }: Requested, now: Date): ErrorResponse {
  const code = error instanceof HttpError ? undefined : codeOf(error);
  const shown = code !== undefined && errors.includes(code) ? code : undefined;
  const { status } = ERRORS[kindOf(error)];
  const detail = isFault(error) ? ERRORS[shown ?? "fault"].example : (error as Error).message;
  const violations = version === "v1" ? [] : violationsOf(error);
  const body = problemBody({ status, detail, code: shown, violations, now });
  return { status, headers: headersOf(error), body };
}

/** Body of an error; `error_code` and `violations` are optional. */
export function problemBody({
  status,
  detail,
  code,
  violations = [],
  now,
}: {
  readonly status: number;
  readonly detail: string;
  readonly code?: ErrorResponse["body"]["error_code"];
  readonly violations?: readonly Violation[];
  readonly now: Date;
}): ErrorResponse["body"] {
  return {
    detail,
    status_code: status,
    ...present({ error_code: code }),
    ...(violations.length === 0 ? {} : { violations: [...violations] }),
    timestamp: now.toISOString(),
  };
}

const violationsOf = (error: unknown) =>
  error instanceof HttpError || error instanceof DomainError ? error.violations : [];

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
    ...present({ Allow: allow }),
    ...(isUnauthenticated ? { "WWW-Authenticate": "Bearer" } : {}),
  };
}

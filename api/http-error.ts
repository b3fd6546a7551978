import type { Violation } from "../crds/errors.ts";

/** What the interface refuses before, or beside, the domain; `problems.ts` says with which HTTP status. */
export type HttpErrorKind =
  | "malformed"
  | "unauthenticated"
  | "forbidden"
  | "not-found"
  | "conflict"
  | "method-not-allowed"
  | "too-large"
  | "unsupported-media-type"
  | "rate-limited"
  | "unavailable";

interface RefusalFacts {
  /** Seconds after which trying again makes sense. */
  readonly retryAfterSeconds?: number;
  /** The methods that the path has, when the method was wrong. */
  readonly allow?: string;
  /** Whether it is one of a row that is turned away for the same reason, and not the first. */
  readonly isRepetition?: boolean;
  readonly cause?: unknown;
}

/** A request that is turned away; `detail` goes to the caller and never names internals or what was sent as a proof. */
export class HttpError extends Error {
  override readonly name = "Refusal";
  readonly kind: HttpErrorKind;
  readonly retryAfterSeconds: number | undefined;
  readonly allow: string | undefined;
  readonly isRepetition: boolean;

  constructor(kind: HttpErrorKind, detail: string, facts: RefusalFacts = {}) {
    super(detail, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.kind = kind;
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.allow = facts.allow;
    this.isRepetition = facts.isRepetition ?? false;
  }
}

/** Everything wrong with a query or a path, in one sentence. */
export function describe(violations: readonly Violation[]): string {
  return violations.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`)).join("; ");
}

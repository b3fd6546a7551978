/** A field that the API server refused, from `Status.details.causes`. Its message may quote user input. */
export interface FieldCause {
  readonly field?: string;
  readonly reason?: string;
  readonly message?: string;
}

interface KubeFailure {
  readonly status: number;
  /** The API server's `Status.reason`, or `Unreachable`, `Timeout`, `Aborted`, `BrokenStream`. */
  readonly reason: string;
  readonly retryAfterSeconds?: number | undefined;
  readonly causes?: readonly FieldCause[];
  /** Kind or plural in the refusal (`Status.details.kind`), such as `namespaces`. */
  readonly kind?: string | undefined;
  /** The API server's sentence: for conditions that quote a refusal, never for logs. */
  readonly detail?: string | undefined;
  readonly cause?: unknown;
}

/** A failed call to the API server. The message names status and reason, never a body, a header or a token. */
export class KubeError extends Error {
  override readonly name = "KubeError";
  readonly status: number;
  readonly reason: string;
  readonly retryAfterSeconds: number | undefined;
  readonly causes: readonly FieldCause[];
  readonly kind: string | undefined;
  readonly #detail: string;

  constructor(failure: KubeFailure) {
    super(
      `Kubernetes API: ${failure.status === 0 ? "no answer" : failure.status} ${failure.reason}`.trimEnd(),
      failure.cause === undefined ? undefined : { cause: failure.cause },
    );
    this.status = failure.status;
    this.reason = failure.reason;
    this.retryAfterSeconds = failure.retryAfterSeconds;
    this.causes = failure.causes ?? [];
    this.kind = failure.kind;
    this.#detail = failure.detail ?? "";
  }

  /** The API server's sentence, or ""; kept out of `message` because it may quote user input. */
  detail(): string {
    return this.#detail;
  }

  toJSON(): object {
    return { status: this.status, reason: this.reason, retryAfterSeconds: this.retryAfterSeconds };
  }
}

/** The object or its collection does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof KubeError && error.status === 404;
}

/** The object changed since the read, or a UID precondition failed; see `isAlreadyExists` for an existing name. */
export function isConflict(error: unknown): boolean {
  return error instanceof KubeError && error.status === 409 && error.reason !== "AlreadyExists";
}

/**
 * A `test` of a JSON patch failed. Admission may refuse with 422 too, so the message decides; it is the same for every
 * patch that can't be applied.
 * https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/endpoints/handlers/patch.go
 */
export function isTestFailed(error: unknown): boolean {
  const words = "the server rejected our request due to an error in our request";
  return error instanceof KubeError && error.status === 422 && error.detail().startsWith(words);
}

/** An object of that name exists. */
export function isAlreadyExists(error: unknown): boolean {
  return error instanceof KubeError && error.status === 409 && error.reason === "AlreadyExists";
}

/** The resource version or the continue token is too old: list again. */
export function isGone(error: unknown): boolean {
  return error instanceof KubeError && (error.status === 410 || error.reason === "Expired" || error.reason === "Gone");
}

/** RBAC or admission forbids the call. */
export function isForbidden(error: unknown): boolean {
  return error instanceof KubeError && error.status === 403;
}

/** The object violates its schema or rules (422), or is unreadable (400). */
export function isInvalid(error: unknown): boolean {
  return error instanceof KubeError && (error.status === 422 || error.status === 400);
}

/** The API server is overloaded, failing or unreachable: 429, 5xx, no connection, timeout. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof KubeError)) return false;
  if (error.status === 0) return error.reason !== "Aborted";
  return error.status === 429 || error.status >= 500;
}

/** A write with unknown outcome: the API server, or a proxy before it, failed on the way. Excludes 429. */
export function isUnanswered(error: unknown): boolean {
  return isUnavailable(error) && (error as KubeError).status !== 429;
}

/** Handler for a `catch`: answers `answer` for an expected error and rethrows any other. */
export function insteadOf<const A>(isExpected: (error: unknown) => boolean, answer: A): (error: unknown) => A {
  return (error) => {
    if (isExpected(error)) return answer;
    throw error;
  };
}

/** Answers the call's result. An error becomes the port's where `translate` answers one, else it is rethrown. */
export async function translated<T>(
  call: () => Promise<T>,
  translate: (error: unknown) => Error | undefined,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw translate(error) ?? error;
  }
}

/** Error codes of the REST contract. */
export type ErrorCode =
  | "ENV_NAME_EXISTS"
  | "ENV_NOT_FOUND"
  | "ENV_CREATION_FAILED"
  | "ENV_TTL_EXCEEDED"
  | "ENV_REPO_NOT_FOUND"
  | "ENV_CONFIG_INVALID";

/** One problem of a request: the field or path, and its message. */
export interface Violation {
  readonly field: string;
  readonly message: string;
}

/** All violations in one sentence. */
export function describeViolations(violations: readonly Violation[]): string {
  return violations.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`)).join("; ");
}

/** A domain error. The message is for the caller; facts are fields. */
export abstract class DomainError extends Error {
  abstract readonly code: ErrorCode | undefined;
  /** Violations, where the error is about the request; the message has all of them, too. */
  readonly violations: readonly Violation[] = [];
  override get name(): string {
    return this.constructor.name;
  }
}

/** The name is in use, or its former environment is being deleted (then `retryAfterSeconds` is set). */
export class NameExists extends DomainError {
  readonly code = "ENV_NAME_EXISTS";
  readonly environmentName: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(environmentName: string, retryAfterSeconds?: number) {
    super("Environment name already exists");
    this.environmentName = environmentName;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The environment does not exist or is invisible to the caller; the answer is the same. */
export class EnvironmentNotFound extends DomainError {
  readonly code = "ENV_NOT_FOUND";

  constructor() {
    super("Environment not found");
  }
}

/** A TTL above the maximum. */
export class TtlExceeded extends DomainError {
  readonly code = "ENV_TTL_EXCEEDED";

  constructor(maximumHours: number) {
    super(`TTL exceeds the maximum of ${maximumHours} hours`);
  }
}

/** A Repository that is not registered, invisible to the caller, or of the wrong type. */
export class RepositoryNotFound extends DomainError {
  readonly code = "ENV_REPO_NOT_FOUND";

  override readonly violations: readonly Violation[];

  constructor(repository: string, field: string) {
    const [type = ""] = /^(frontend|backend)/.exec(field) ?? [];
    const message = `no ${`${type} repository`.trimStart()} '${repository}' is registered`;
    const violations = [{ field, message }];
    super(describeViolations(violations));
    this.violations = violations;
  }
}

/** A Repository requested by its address that is not registered or invisible to the caller. */
export class UnknownRepository extends DomainError {
  readonly code = "ENV_REPO_NOT_FOUND";

  constructor() {
    super("Repository not found");
  }
}

/** The request is invalid; every violation is named. */
export class ConfigInvalid extends DomainError {
  readonly code = "ENV_CONFIG_INVALID";
  override readonly violations: readonly Violation[];

  constructor(violations: readonly Violation[]) {
    super(describeViolations(violations));
    this.violations = violations;
  }
}

/** The environment is protected or being deleted, so the request can't be served now. */
export class EnvironmentConflict extends DomainError {
  readonly code = undefined;
}

/** The Kubernetes API is unavailable. */
export class ClusterUnavailable extends DomainError {
  readonly code = "ENV_CREATION_FAILED";
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number, options?: ErrorOptions) {
    super("The Kubernetes API can't be reached; try again later", options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The secret manager is unavailable, and needed. */
export class SecretsUnavailable extends DomainError {
  readonly code = "ENV_CREATION_FAILED";
  readonly retryAfterSeconds = 5;

  constructor(options?: ErrorOptions) {
    super("The secret manager can't be used; try again later", options);
  }
}

/** A Repository's host is unavailable, and needed. */
export class HostUnavailable extends DomainError {
  readonly code = "ENV_CREATION_FAILED";
  readonly retryAfterSeconds: number;

  constructor(repository: string, retryAfterSeconds: number, options?: ErrorOptions) {
    super(`The host of repository '${repository}' can't be asked; try again later, or send full commit SHAs`, options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** An internal error prevented the environment's creation. */
export class CreationFailed extends DomainError {
  readonly code = "ENV_CREATION_FAILED";

  constructor(options?: ErrorOptions) {
    super("Failed to create environment", options);
  }
}

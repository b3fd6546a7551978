/** A repository on a host of the settings. */
export interface HostedRepository {
  /** The host's id in the settings. */
  readonly host: string;
  /** Its full name there, such as `shop/shop-api`. */
  readonly fullName: string;
}

/** What a commit status or a deployment says. */
export type ReportedState = "pending" | "success" | "failure";

/** A status of a commit. Another one of the same context replaces it. */
export interface CommitReport {
  readonly commit: string;
  /** What required checks name. */
  readonly context: string;
  readonly state: ReportedState;
  /** At most 140 characters. */
  readonly description: string;
  readonly url?: string;
}

/** The comment of a pull request that is edited in place. */
export interface StickyComment {
  /** The pull request. */
  readonly number: number;
  /** Text that its first line has, which readers don't see. */
  readonly marker: string;
  /** Markdown. */
  readonly text: string;
  /** Where it was written before. */
  readonly id?: number;
  /** False: it is only edited. */
  readonly mayCreate: boolean;
}

/** A deployment of a commit to an environment of the host. */
export interface DeploymentReport extends Omit<CommitReport, "context"> {
  /** The host's environment, made with its first deployment. */
  readonly environment: string;
}

/**
 * Tells the host of a pull request about its environment. Only the address in the settings is called. Every method is
 * idempotent and throws PullRequestHostFailed.
 */
export interface PullRequestHost {
  report(repository: HostedRepository, report: CommitReport, signal: AbortSignal): Promise<void>;

  /**
   * Edits the comment; one that is lost is found by its marker and our own author id, else written anew.
   *
   * @returns its id; `undefined` when there is none and none may be created
   */
  comment(repository: HostedRepository, comment: StickyComment, signal: AbortSignal): Promise<number | undefined>;

  /** Makes or continues the commit's deployment and ends those of other commits; nothing on hosts without deployments. */
  deploy(repository: HostedRepository, report: DeploymentReport, signal: AbortSignal): Promise<void>;

  /** Ends and deletes the deployments of an environment, and it; nothing on hosts without deployments. */
  retire(repository: HostedRepository, environment: string, signal: AbortSignal): Promise<void>;
}

/** The host could not be told or asked; the message says why, without the token. */
export class PullRequestHostFailed extends Error {
  override readonly name = "PullRequestHostFailed";
  /** When the host wants to be asked again, if it says so. */
  readonly retryAfterMs: number | undefined;
  /** The status of its answer; `undefined` without an answer. */
  readonly status: number | undefined;

  constructor(message: string, { retryAfterMs, status, cause }: FailedCall = {}) {
    super(message, { cause });
    this.retryAfterMs = retryAfterMs;
    this.status = status;
  }
}

interface FailedCall {
  readonly retryAfterMs?: number | undefined;
  readonly status?: number | undefined;
  readonly cause?: unknown;
}

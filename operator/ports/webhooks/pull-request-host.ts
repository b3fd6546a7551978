import type { PullRequestState } from "../../../crds/webhooks/webhook-event.schema.ts";

/** A repository on a host of the settings. */
export interface HostedRepository {
  /** Id in the settings. */
  readonly host: string;
  /** Full name there, such as `shop/shop-api`. */
  readonly fullName: string;
}

/** State of a commit status or a deployment. */
export type ReportedState = "pending" | "success" | "failure";

/** A commit status. A later one of the same context replaces it. */
export interface CommitReport {
  readonly commit: string;
  /** Name for required checks. */
  readonly context: string;
  readonly state: ReportedState;
  /** Text of at most 140 characters. */
  readonly description: string;
  readonly url?: string;
}

/** The comment of a pull request that is edited in place. */
export interface StickyComment {
  /** Number of the pull request. */
  readonly number: number;
  /** Hidden text in the first line of the comment. */
  readonly marker: string;
  /** Markdown. */
  readonly text: string;
  /** Id of the existing comment. */
  readonly id?: number;
  readonly mayCreate: boolean;
}

/** A deployment of a commit to an environment of the host. */
export interface DeploymentReport extends Omit<CommitReport, "context"> {
  /** The host's environment, created with its first deployment. */
  readonly environment: string;
}

/** Sets commit statuses on the hosts of pull requests. */
export interface CommitStatusReporter {
  /** Idempotent. @throws PullRequestHostFailed */
  report(repository: HostedRepository, report: CommitReport, signal: AbortSignal): Promise<void>;
}

/**
 * Reports environments to the hosts of pull requests. Calls only the address in the settings. Every method is
 * idempotent and throws PullRequestHostFailed. On hosts without deployments `deploy` and `retire` do nothing.
 */
export interface PullRequestHost extends CommitStatusReporter {
  /**
   * Edits the comment; a lost one is found by its marker and our author id, else created. Answers its id; `undefined`
   * when there is none and none may be created.
   */
  comment(repository: HostedRepository, comment: StickyComment, signal: AbortSignal): Promise<number | undefined>;
  /** Creates or updates the commit's deployment and ends those of other commits. */
  deploy(repository: HostedRepository, report: DeploymentReport, signal: AbortSignal): Promise<void>;
  /** Ends and deletes an environment and its deployments. */
  retire(repository: HostedRepository, environment: string, signal: AbortSignal): Promise<void>;
}

/** Current state of a pull request, with all its labels up to `MOST_READ_LABELS`. */
export type HostedPullRequest = Omit<PullRequestState, "action" | "label">;

/** Selection of webhooks to be sent again. */
export interface MissedWebhooks {
  /** Prefix of our addresses. */
  readonly address: string;
  /** Older ones are left alone. */
  readonly since: Date;
}

/**
 * Reads pull requests from a repository's host. Calls only the address in the settings. Every method throws
 * PullRequestHostFailed without a usable response, instead of answering nothing.
 */
export interface PullRequestReader {
  /** Open pull requests, last changed first, at most a thousand. */
  openPullRequests(repository: HostedRepository, signal: AbortSignal): Promise<readonly HostedPullRequest[]>;
  /** One pull request; `undefined` when the host answers that there is none, or that the token may not see it. */
  pullRequest(
    repository: HostedRepository,
    number: number,
    signal: AbortSignal,
  ): Promise<HostedPullRequest | undefined>;
  /**
   * Makes the host resend its undelivered webhooks, signed and through the usual endpoint, without a read of their
   * contents. @returns the count; `undefined` without a log of the host, a right to it, or a hook with our address
   */
  redeliver(repository: HostedRepository, missed: MissedWebhooks, signal: AbortSignal): Promise<number | undefined>;
}

/** The call to the host failed; the message says why, without the token. */
export class PullRequestHostFailed extends Error {
  override readonly name = "PullRequestHostFailed";
  /** The host's `Retry-After`, if any. */
  readonly retryAfterMs: number | undefined;
  /** Status of the response; `undefined` without one. */
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

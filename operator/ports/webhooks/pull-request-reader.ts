import type { PullRequestState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { HostedRepository } from "./pull-request-host.ts";

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
   * Makes the host resend its undelivered webhooks, signed and through the usual endpoint. The contents in its log are
   * not read.
   *
   * @returns the count; `undefined` where the host keeps no log, the token may not use it, or no hook has our address
   */
  redeliver(repository: HostedRepository, missed: MissedWebhooks, signal: AbortSignal): Promise<number | undefined>;
}

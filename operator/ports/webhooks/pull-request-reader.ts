import type { PullRequestState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { HostedRepository } from "./pull-request-host.ts";

/** The whole state of a pull request now. Its labels are all that it has, up to `MOST_READ_LABELS`. */
export type HostedPullRequest = Omit<PullRequestState, "action" | "label">;

/** The webhooks that a host is to send again. */
export interface MissedWebhooks {
  /** The beginning of the addresses that are ours. */
  readonly address: string;
  /** Older ones stay as they are. */
  readonly since: Date;
}

/**
 * Asks the host of a repository about its pull requests. Only the address in the settings is called. Every method throws
 * PullRequestHostFailed when the host gives no usable answer: never is that answered as if there were nothing.
 */
export interface PullRequestReader {
  /** The open ones, those first that changed last. Of more than a thousand the rest is left out. */
  openPullRequests(repository: HostedRepository, signal: AbortSignal): Promise<readonly HostedPullRequest[]>;

  /** One of them; `undefined` when the host answers that there is none, or that the token may not see it. */
  pullRequest(
    repository: HostedRepository,
    number: number,
    signal: AbortSignal,
  ): Promise<HostedPullRequest | undefined>;

  /**
   * Has the host send the webhooks again that it could not deliver, signed and by the front door. What its log says of their
   * contents is not read.
   *
   * @returns how many; `undefined` where the host keeps no log, the token may not use it, or no hook has our address
   */
  redeliver(repository: HostedRepository, missed: MissedWebhooks, signal: AbortSignal): Promise<number | undefined>;
}

import type { Clock } from "../../kit/time/clock.ts";
import type { HostRequest } from "../../ports/host-technology.ts";
import {
  type HostedPullRequest,
  type HostedRepository,
  PullRequestHostFailed,
  type PullRequestReader,
} from "../../ports/webhooks/pull-request-host.ts";
import type { ReadEvent } from "../../ports/webhooks/webhook-format.ts";
import { unlessAbsent } from "./host-api.ts";

/** Pull request API of one host kind. */
export interface PullRequestApi {
  /** Path of the list, such as `/repos/{owner}/{repo}/pulls`; `/{number}` below is one of it. */
  readonly path: string;
  /** Values of the path's placeholders. */
  readonly of: (repository: HostedRepository) => Readonly<Record<string, string>>;
  /** Query for open ones, last changed first. */
  readonly open: Readonly<Record<string, string | number>>;
  /** Reads an answered pull request as an event without an action. */
  readonly read: (answer: unknown, now: Date) => ReadEvent;
}

/** Limit on a list: pages of a hundred, or of the host's maximum. */
const MOST_PAGES = 10;

/** Reads pull requests by a host's API; makes no host send webhooks again. */
export function pullRequestCalls(
  request: HostRequest,
  { path, of, open, read }: PullRequestApi,
  clock: Clock,
): PullRequestReader {
  const stateOf = (answer: unknown) => withoutAction(read(answer, clock.now()));
  return {
    async openPullRequests(repository, signal) {
      const found: HostedPullRequest[] = [];
      for (let page = 1; page <= MOST_PAGES; page++) {
        const list = await request<unknown>(`GET ${path}`, { ...of(repository), ...open, page }, signal);
        if (!Array.isArray(list)) throw new PullRequestHostFailed(`${path} answered no list`);
        if (list.length === 0) break;
        // An unusable one must not hide the others: it counts as missing.
        found.push(...list.flatMap((one) => stateOf(one).state ?? []));
      }
      return found;
    },
    async pullRequest(repository, number, signal) {
      const answer = await unlessAbsent(
        request<unknown>(`GET ${path}/{number}`, { ...of(repository), number }, signal),
      );
      if (answer === undefined) return undefined;
      const { state, reason = "" } = stateOf(answer);
      if (state?.number === number) return state;
      throw new PullRequestHostFailed(`${path}/${number} answered something else. ${reason}`);
    },
    redeliver: async () => undefined,
  };
}

function withoutAction({ event, reason }: ReadEvent): { state?: HostedPullRequest; reason?: string } {
  if (event.pullRequest === undefined) return { reason: reason ?? "It is no pull request" };
  const { action: _action, label: _label, ...state } = event.pullRequest;
  return { state };
}

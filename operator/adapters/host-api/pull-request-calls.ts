import type { Clock } from "../../ports/clock.ts";
import type { HostRequest } from "../../ports/host-technology.ts";
import type { HostedRepository } from "../../ports/webhooks/pull-request-host.ts";
import { PullRequestHostFailed } from "../../ports/webhooks/pull-request-host.ts";
import type { HostedPullRequest, PullRequestReader } from "../../ports/webhooks/pull-request-reader.ts";
import type { ReadEvent } from "../../ports/webhooks/webhook-format.ts";
import { unlessAbsent } from "./host-api.ts";

/** How the API of one kind of host reads pull requests. */
export interface PullRequestApi {
  /** The list, such as `/repos/{owner}/{repo}/pulls`; one of it is `/{number}` below. */
  readonly path: string;
  /** The values of the path's braces. */
  readonly of: (repository: HostedRepository) => Readonly<Record<string, string>>;
  /** The query of the open ones, those first that changed last. */
  readonly open: Readonly<Record<string, string | number>>;
  /** A pull request as the API answers it, read as an event that has no action. */
  readonly read: (answer: unknown, now: Date) => ReadEvent;
}

/** The rest of a longer list is left out: a hundred of each, or as many as a host gives at most. */
const MOST_PAGES = 10;

/** Reads pull requests by the API of a host. */
export function pullRequestCalls(
  request: HostRequest,
  { path, of, open, read }: PullRequestApi,
  clock: Pick<Clock, "now">,
): Pick<PullRequestReader, "openPullRequests" | "pullRequest"> {
  const stateOf = (answer: unknown) => withoutAction(read(answer, clock.now()));
  return {
    async openPullRequests(repository, signal) {
      const found: HostedPullRequest[] = [];
      for (let page = 1; page <= MOST_PAGES; page++) {
        const list = await request<unknown>(`GET ${path}`, { ...of(repository), ...open, page }, signal);
        if (!Array.isArray(list)) throw new PullRequestHostFailed(`${path} answered no list`);
        if (list.length === 0) break;
        // One that is not usable must not hide the others: it counts as one that is not in the list.
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
  };
}

function withoutAction({ event, reason }: ReadEvent): { state?: HostedPullRequest; reason?: string } {
  if (event.pullRequest === undefined) return { reason: reason ?? "It is no pull request" };
  const { action: _action, label: _label, ...state } = event.pullRequest;
  return { state };
}

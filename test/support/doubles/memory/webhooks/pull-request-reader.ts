import {
  type HostedPullRequest,
  type MissedWebhooks,
  PullRequestHostFailed,
  type PullRequestReader,
} from "../../../../../operator/ports/webhooks/pull-request-host.ts";

/** A PullRequestReader with a test's pull requests; it records its calls. */
export function memoryPullRequestReader() {
  const pulls = new Map<number, HostedPullRequest>();
  const requested: (number | "open")[] = [];
  const redelivered: MissedWebhooks[] = [];
  let away: Error | undefined;
  const reached = (what: number | "open") => {
    requested.push(what);
    if (away !== undefined) throw away;
  };
  const reader: PullRequestReader = {
    async openPullRequests() {
      reached("open");
      return [...pulls.values()].filter(({ state }) => state === "open");
    },
    async pullRequest(_repository, number) {
      reached(number);
      return pulls.get(number);
    },
    async redeliver(_repository, missed) {
      if (away !== undefined) throw away;
      redelivered.push(missed);
      return 0;
    },
  };
  return {
    reader,
    pulls,
    requests: requested,
    redelivered,
    has: (pull: HostedPullRequest) => pulls.set(pull.number, pull),
    fail(isAway: boolean, retryAfterMs?: number) {
      away = isAway ? new PullRequestHostFailed("the host is away", { retryAfterMs }) : undefined;
    },
  };
}

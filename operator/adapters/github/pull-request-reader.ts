import type { Clock } from "../../ports/clock.ts";
import type { PullRequestReader } from "../../ports/webhooks/pull-request-reader.ts";
import type { HostApi } from "../host-api/host-api.ts";
import { pullRequestCalls } from "../host-api/pull-request-calls.ts";
import { partsOf } from "../host-api/repository-calls.ts";
import { isOfFork, pullRequestEvent, testMergeOf } from "../webhook-format/pull-request.ts";
import { redeliverMissed } from "./missed-webhooks.ts";

/** PullRequestReader port over GitHub's API, https://docs.github.com/en/rest/pulls/pulls. */
export function githubPullRequestReader(api: HostApi, clock: Pick<Clock, "now">): PullRequestReader {
  return {
    ...pullRequestCalls(
      api.request,
      {
        path: "/repos/{owner}/{repo}/pulls",
        of: partsOf,
        open: { state: "open", sort: "updated", direction: "desc", per_page: 100 },
        read(pull, now) {
          const payload = { pull_request: pull };
          const facts = { action: "other", isFork: isOfFork(payload), mergeCommit: testMergeOf(payload) } as const;
          return pullRequestEvent(payload, facts, now);
        },
      },
      clock,
    ),
    redeliver: redeliverMissed(api),
  };
}

import type { Clock } from "../../ports/clock.ts";
import type { PullRequestReader } from "../../ports/webhooks/pull-request-reader.ts";
import type { HostApi } from "../host-api/host-api.ts";
import { pullRequestCalls } from "../host-api/pull-request-calls.ts";
import { partsOf } from "../host-api/repository-calls.ts";
import { isOfFork, pullRequestEvent } from "../webhook-format/pull-request.ts";
import { redeliverMissed } from "./missed-webhooks.ts";

/** The PullRequestReader port over GitHub's API, https://docs.github.com/en/rest/pulls/pulls. */
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
          return pullRequestEvent(payload, { action: "other", isFork: isOfFork(payload) }, now);
        },
      },
      clock,
    ),
    redeliver: redeliverMissed(api),
  };
}

import type { Clock } from "../../ports/clock.ts";
import type { PullRequestReader } from "../../ports/webhooks/pull-request-reader.ts";
import type { HostApi } from "../host-api/host-api.ts";
import { pullRequestCalls } from "../host-api/pull-request-calls.ts";
import { partsOf } from "../host-api/repository-calls.ts";
import { pullRequestEvent } from "../webhook-format/pull-request.ts";
import { headOf } from "./webhook-format.ts";

/** PullRequestReader port over Gitea's API, https://docs.gitea.com/api/1.25/#tag/repository. Without a log of hooks. */
export function giteaPullRequestReader({ request }: HostApi, clock: Pick<Clock, "now">): PullRequestReader {
  return {
    ...pullRequestCalls(
      request,
      {
        path: "/repos/{owner}/{repo}/pulls",
        of: partsOf,
        open: { state: "open", sort: "recentupdate", limit: 50 },
        read(pull, now) {
          const payload = { pull_request: pull };
          return pullRequestEvent(payload, { action: "other", ...headOf(payload) }, now);
        },
      },
      clock,
    ),
    redeliver: async () => undefined,
  };
}

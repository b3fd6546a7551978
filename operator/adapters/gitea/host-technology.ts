import type { HostTechnology } from "../../ports/host-technology.ts";
import { repositoryHooks } from "../host-api/hooks.ts";
import { type PullRequestApi, pullRequestCalls } from "../host-api/pull-request-calls.ts";
import { partsOf, repositoryCalls, userOf } from "../host-api/repository-calls.ts";
import { pullRequestEvent } from "../webhook-format/pull-request.ts";
import { GITEA_HOOKS } from "./repository-hooks.ts";
import { giteaWebhookFormat, headOf } from "./webhook-format.ts";

/** Gitea and Forgejo, https://docs.gitea.com/api/1.25/. The API has no deployments, and shows no log of hooks. */
export const gitea: HostTechnology = {
  format: giteaWebhookFormat,
  spacesWrites: false,
  reporter: ({ request }) => ({
    ...repositoryCalls(request, { self: userOf }),
    deploy: async () => undefined,
    retire: async () => undefined,
  }),
  reader: ({ request }, clock) => pullRequestCalls(request, PULL_REQUESTS, clock),
  hooks: ({ request }) => repositoryHooks(request, GITEA_HOOKS),
};

const PULL_REQUESTS: PullRequestApi = {
  path: "/repos/{owner}/{repo}/pulls",
  of: partsOf,
  open: { state: "open", sort: "recentupdate", limit: 50 },
  read(pull, now) {
    const payload = { pull_request: pull };
    return pullRequestEvent(payload, { action: "other", ...headOf(payload) }, now);
  },
};

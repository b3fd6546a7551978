import type { HostCall } from "../recording-host.ts";
import { type HostHook, type HostHooks, hookRoutes, invalid, refusal } from "./host-hook.ts";

/** Events that Gitea lists separately, see `updateHookEvents` in its routers/api/v1/utils/hook.go. */
const OF_PULL_REQUESTS = [
  "pull_request",
  "pull_request_assign",
  "pull_request_label",
  "pull_request_milestone",
  "pull_request_comment",
  "pull_request_review",
  "pull_request_review_request",
  "pull_request_sync",
];
const OTHERS = ["create", "delete", "fork", "push", "issues", "release", "status", "workflow_run", "workflow_job"];
const FIELDS = ["type", "config", "events", "branch_filter", "authorization_header", "active", "name"];

/** Gitea's hooks, https://docs.gitea.com/api/1.25/#tag/repository. Neither secrets nor deliveries are shown. */
export function giteaHooks(): HostHooks {
  const hooks: HostHook[] = [];
  const path = "/repos/shop/[^/]+/hooks";
  return { hooks, answer: 200, routes: hookRoutes(hooks, { path, listed: "limit=50", problemOf, stored, shown }) };
}

function problemOf(body: HostCall["body"]) {
  const { url, content_type } = (body.config ?? {}) as Record<string, string>;
  const isWhole = body.type !== undefined && url !== undefined && content_type !== undefined;
  return isWhole ? refusal(body, FIELDS) : invalid("Missing config");
}

function stored({ type, config, events = ["push"], branch_filter = "", active = false }: HostCall["body"]) {
  const { secret, ...shownConfig } = config as Record<string, string>;
  return { secret, fields: { type, active, branch_filter, config: shownConfig, events: spread(events as string[]) } };
}

function spread(requested: readonly string[]): string[] {
  const isRequested = (event: string) => requested.includes(event === "pull_request" ? "pull_request_only" : event);
  const pulls = OF_PULL_REQUESTS.filter((event) => requested.includes("pull_request") || isRequested(event));
  return [...pulls, ...OTHERS.filter((event) => requested.includes(event))];
}

const shown = ({ id, fields }: HostHook) => ({
  id,
  name: "",
  authorization_header: "",
  ...fields,
  updated_at: "2026-06-01T11:00:00Z",
  created_at: "2026-06-01T11:00:00Z",
});

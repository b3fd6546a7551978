import type { DesiredHook } from "../../ports/webhooks/repository-hooks.ts";
import { faultsOf, type HookApi } from "../host-api/hooks.ts";
import { partsOf } from "../host-api/repository-calls.ts";

/** Events as listed in hooks. Only `delete` reports a deleted branch; `workflow_run` exists since Gitea 1.24. */
const EVENTS = ["pull_request", "pull_request_label", "pull_request_sync", "push", "delete", "workflow_run"];
/** Events as written: there `pull_request` also means reviews and comments. */
const WRITTEN = EVENTS.map((event) => (event === "pull_request" ? "pull_request_only" : event));
/** Other types have chat bodies. */
const TYPES = ["gitea", "forgejo"];

interface Hook {
  readonly id: number;
  readonly type: string;
  readonly active: boolean;
  readonly events: readonly string[];
  readonly branch_filter?: string;
  readonly config: { readonly url?: string; readonly content_type?: string };
}

/**
 * Gitea's hooks, https://docs.gitea.com/api/1.25/#tag/repository. Gitea pauses no hook, and shows neither deliveries nor
 * a secret; its administrator decides about certificate checks. An edit ignores the secret, so a new hook replaces the
 * existing one.
 */
export const GITEA_HOOKS: HookApi<Hook, never> = {
  path: "/repos/{owner}/{repo}/hooks",
  of: partsOf,
  page: { limit: 50 },
  read({ id, type, active, events, branch_filter, config }) {
    const { url = "", content_type } = config;
    return {
      id: String(id),
      url,
      events,
      state: active ? "active" : "inactive",
      faults: faultsOf(
        { events, required: EVENTS },
        ["BranchesFiltered", !["", "*", undefined].includes(branch_filter), "it tells of some branches only"],
        ["FormatWrong", !TYPES.includes(type) || content_type !== "json", "it does not send Gitea's JSON"],
      ),
    };
  },
  write({ address, key }: DesiredHook) {
    const config = { url: address, content_type: "json", secret: key.reveal() };
    return { type: "gitea", active: true, branch_filter: "*", events: WRITTEN, config };
  },
  neededRight: "the scope write:repository, and its account the right to administer the repository",
};

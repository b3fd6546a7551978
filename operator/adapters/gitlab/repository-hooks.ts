import type { DesiredHook } from "../../ports/webhooks/repository-hooks.ts";
import { deliveryOf, faultsOf, type HookApi } from "../host-api/hooks.ts";
import { answeredStatus } from "../host-api/host-api.ts";
import { isSigningToken } from "./signature.ts";

const EVENTS = ["push_events", "merge_requests_events", "pipeline_events"] as const;
const EXECUTABLE = "executable";

interface Hook extends Readonly<Partial<Record<(typeof EVENTS)[number], boolean>>> {
  readonly id: number;
  readonly url: string;
  readonly enable_ssl_verification?: boolean;
  readonly push_events_branch_filter?: string | null;
  readonly custom_webhook_template?: string | null;
  /** Served since GitLab 15.7. */
  readonly alert_status?: string;
  /** Both served since GitLab 19.0. */
  readonly token_present?: boolean;
  readonly signing_token_present?: boolean;
}

interface Delivery {
  /** `internal error` without an answer. */
  readonly response_status: string | number;
}

/**
 * GitLab's hooks, https://docs.gitlab.com/api/project_webhooks/. GitLab pauses a hook after repeated failures, first for
 * a while and then for good, and resumes it after an accepted test delivery.
 */
export const GITLAB_HOOKS: HookApi<Hook, Delivery> = {
  path: "/projects/{project}/hooks",
  of: ({ fullName }) => ({ project: fullName }),
  page: { per_page: 100 },
  read(hook) {
    const { id, url, alert_status = EXECUTABLE, push_events_branch_filter: filter } = hook;
    const events = EVENTS.filter((event) => hook[event] === true);
    const isUnsigned = hook.token_present === false && hook.signing_token_present === false;
    return {
      id: String(id),
      url,
      events,
      state: alert_status === EXECUTABLE ? "active" : "paused",
      faults: faultsOf(
        { events, required: EVENTS },
        ["BranchesFiltered", Boolean(filter), "it tells of pushes to some branches only"],
        ["FormatWrong", Boolean(hook.custom_webhook_template), "it sends bodies of its own template"],
        ["CertificateUnchecked", hook.enable_ssl_verification === false, "it does not check our certificate"],
        ["SecretMissing", isUnsigned, "it has no token"],
      ),
    };
  },
  write: ({ address, key }: DesiredHook) => ({
    data: {
      url: address,
      ...Object.fromEntries(EVENTS.map((event) => [event, true])),
      enable_ssl_verification: true,
      push_events_branch_filter: "",
      branch_filter_strategy: "all_branches",
      custom_webhook_template: "",
      // Signing tokens exist since GitLab 19.0; older ones ignore them.
      ...(isSigningToken(key) ? { signing_token: key.reveal() } : { token: key.reveal() }),
    },
  }),
  edit: "PUT",
  test: "test/push_events",
  // A failed test is then the last delivery; without a commit there is nothing to test with.
  afterWrite: (test) =>
    test().catch((error: unknown) => {
      if (answeredStatus(error) === undefined) throw error;
    }),
  log: {
    // Since 17.3.
    path: "events",
    read: ({ response_status: status }) => deliveryOf(Number(status), String(status)),
  },
  neededRight: "the scope api and the role Maintainer in the project",
};

import type { DesiredHook } from "../../ports/webhooks/repository-hooks.ts";
import { deliveryOf, faultsOf, type HookApi } from "../host-api/hooks.ts";
import { partsOf } from "../host-api/repository-calls.ts";

/** GitHub sends `ping` to every hook. */
const EVENTS = ["pull_request", "push", "workflow_run", "merge_group"];
const ALL_EVENTS = "*";

interface Hook {
  readonly id: number;
  readonly active: boolean;
  readonly events: readonly string[];
  readonly updated_at: string;
  readonly config: {
    readonly url?: string;
    readonly content_type?: string;
    readonly insecure_ssl?: string | number;
    /** Asterisks, if present. */
    readonly secret?: string;
  };
}

interface Delivery {
  readonly delivered_at: string;
  readonly status: string;
  readonly status_code: number;
}

/** GitHub's hooks, https://docs.github.com/en/rest/repos/webhooks. GitHub pauses none. */
export const GITHUB_HOOKS: HookApi<Hook, Delivery> = {
  path: "/repos/{owner}/{repo}/hooks",
  of: partsOf,
  page: { per_page: 100 },
  read({ id, active, events, updated_at, config }) {
    const { url = "", content_type, insecure_ssl, secret } = config;
    return {
      id: String(id),
      url,
      events,
      state: active ? "active" : "inactive",
      changedAt: updated_at,
      faults: faultsOf(
        { events, required: events.includes(ALL_EVENTS) ? [] : EVENTS },
        ["FormatWrong", content_type !== "json", "it does not send JSON"],
        ["CertificateUnchecked", String(insecure_ssl ?? "0") !== "0", "it does not check our certificate"],
        ["SecretMissing", !secret, "it has no secret"],
      ),
    };
  },
  write({ address, key }: DesiredHook) {
    const config = { url: address, content_type: "json", insecure_ssl: "0", secret: key.reveal() };
    return { active: true, events: EVENTS, config };
  },
  ofNew: { name: "web" },
  edit: "PATCH",
  test: "pings",
  // GitHub itself pings a new one.
  afterWrite: async (test, isNew) => isNew || test(),
  log: {
    path: "deliveries",
    read: ({ status_code, status, delivered_at }) => deliveryOf(status_code, `${status_code} ${status}`, delivered_at),
  },
  neededRight: "the permission Webhooks, read and write (classic tokens: admin:repo_hook)",
};

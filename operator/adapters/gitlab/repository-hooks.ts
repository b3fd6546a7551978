import type { HostRequest } from "../../ports/host-technology.ts";
import type { HostedRepository } from "../../ports/webhooks/pull-request-host.ts";
import type { RepositoryHook, RepositoryHooks, WantedHook } from "../../ports/webhooks/repository-hooks.ts";
import { deliveryOf, fault, faultsOf, missingEvents, putHook } from "../host-api/hooks.ts";
import { answeredStatus, unlessAbsent } from "../host-api/host-api.ts";
import { isSigningToken } from "./signature.ts";

const HOOKS = "/projects/{project}/hooks";
const EVENTS = ["push_events", "merge_requests_events", "pipeline_events"] as const;
const EXECUTABLE = "executable";

interface Hook extends Readonly<Partial<Record<(typeof EVENTS)[number], boolean>>> {
  readonly id: number;
  readonly url: string;
  readonly enable_ssl_verification?: boolean;
  readonly push_events_branch_filter?: string | null;
  readonly custom_webhook_template?: string | null;
  /** Since 15.7. */
  readonly alert_status?: string;
  /** Both since 19.0. */
  readonly token_present?: boolean;
  readonly signing_token_present?: boolean;
}

interface Delivery {
  /** `internal error` without an answer. */
  readonly response_status: string | number;
}

/**
 * RepositoryHooks port over GitLab's API, https://docs.gitlab.com/api/project_webhooks/. GitLab pauses a hook after
 * repeated failures, first for a while and then for good, and resumes it after an accepted test delivery.
 */
export function gitlabRepositoryHooks(request: HostRequest): RepositoryHooks {
  const list = async ({ fullName: project }: HostedRepository, signal: AbortSignal) =>
    (await request<readonly Hook[]>(`GET ${HOOKS}`, { project, per_page: 100 }, signal)).map(toHook);
  const resume = async ({ fullName: project }: HostedRepository, id: string | number, signal: AbortSignal) => {
    await request(`POST ${HOOKS}/{id}/test/push_events`, { project, id }, signal);
  };
  return {
    list,
    resume,
    neededRight: () => "the scope api and the role Maintainer in the project",
    async lastDelivery({ fullName: project }, id, signal) {
      const asked = { project, id, per_page: 1 };
      // Since 17.3.
      const found = await unlessAbsent(request<readonly Delivery[]>(`GET ${HOOKS}/{id}/events`, asked, signal));
      const [last] = found ?? [];
      return last && deliveryOf(Number(last.response_status), String(last.response_status));
    },
    async put(repository, wanted, signal) {
      const project = repository.fullName;
      const data = toWrite(wanted);
      const kept = await putHook(await list(repository, signal), wanted.address, {
        create: () => request<Hook>(`POST ${HOOKS}`, { project, data }, signal),
        edit: (id) => request<Hook>(`PUT ${HOOKS}/{id}`, { project, id, data }, signal),
        remove: (id) => unlessAbsent(request(`DELETE ${HOOKS}/{id}`, { project, id }, signal)),
      });
      // A failed test is then the last delivery; without a commit there is nothing to test with.
      await resume(repository, kept.id, signal).catch(unlessAnswered);
    },
  };
}

function unlessAnswered(error: unknown): void {
  if (answeredStatus(error) === undefined) throw error;
}

function toHook(hook: Hook): RepositoryHook {
  const { id, url, alert_status = EXECUTABLE, push_events_branch_filter: filter } = hook;
  const events = EVENTS.filter((event) => hook[event] === true);
  const isUnsigned = hook.token_present === false && hook.signing_token_present === false;
  return {
    id: String(id),
    url,
    events,
    state: alert_status === EXECUTABLE ? "active" : "paused",
    faults: faultsOf(
      missingEvents(events, EVENTS),
      fault("BranchesFiltered", Boolean(filter), "it tells of pushes to some branches only"),
      fault("FormatWrong", Boolean(hook.custom_webhook_template), "it sends bodies of its own template"),
      fault("CertificateUnchecked", hook.enable_ssl_verification === false, "it does not check our certificate"),
      fault("SecretMissing", isUnsigned, "it has no token"),
    ),
  };
}

/** Signing tokens exist since GitLab 19.0; older ones ignore them. */
function toWrite({ address, key }: WantedHook) {
  return {
    url: address,
    ...Object.fromEntries(EVENTS.map((event) => [event, true])),
    enable_ssl_verification: true,
    push_events_branch_filter: "",
    branch_filter_strategy: "all_branches",
    custom_webhook_template: "",
    ...(isSigningToken(key) ? { signing_token: key.reveal() } : { token: key.reveal() }),
  };
}

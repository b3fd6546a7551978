import type { HostRequest } from "../../ports/host-technology.ts";
import type { HostedRepository } from "../../ports/webhooks/pull-request-host.ts";
import type { DesiredHook, RepositoryHook, RepositoryHooks } from "../../ports/webhooks/repository-hooks.ts";
import { fault, faultsOf, missingEvents, putHook } from "../host-api/hooks.ts";
import { unlessAbsent } from "../host-api/host-api.ts";
import { partsOf } from "../host-api/repository-calls.ts";

const HOOKS = "/repos/{owner}/{repo}/hooks";
const PAGE_SIZE = 50;
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
 * RepositoryHooks port over Gitea's API, https://docs.gitea.com/api/1.25/#tag/repository. Gitea pauses no hook, and
 * shows neither deliveries nor a secret; its administrator decides about certificate checks. An edit ignores the
 * secret, so a new hook replaces the existing one.
 */
export function giteaRepositoryHooks(request: HostRequest): RepositoryHooks {
  const list = async (repository: HostedRepository, signal: AbortSignal) => {
    const asked = { ...partsOf(repository), limit: PAGE_SIZE };
    return (await request<readonly Hook[]>(`GET ${HOOKS}`, asked, signal)).map(toHook);
  };
  return {
    list,
    lastDelivery: async () => undefined,
    async put(repository, wanted, signal) {
      const of = partsOf(repository);
      await putHook(await list(repository, signal), wanted.address, {
        create: () => request(`POST ${HOOKS}`, { ...of, ...toWrite(wanted) }, signal),
        remove: (id) => unlessAbsent(request(`DELETE ${HOOKS}/{id}`, { ...of, id }, signal)),
      });
    },
    resume: async () => undefined,
    neededRight: () => "the scope write:repository, and its account the right to administer the repository",
  };
}

function toHook({ id, type, active, events, branch_filter, config }: Hook): RepositoryHook {
  const { url = "", content_type } = config;
  return {
    id: String(id),
    url,
    events,
    state: active ? "active" : "inactive",
    faults: faultsOf(
      missingEvents(events, EVENTS),
      fault("BranchesFiltered", !["", "*", undefined].includes(branch_filter), "it tells of some branches only"),
      fault("FormatWrong", !TYPES.includes(type) || content_type !== "json", "it does not send Gitea's JSON"),
    ),
  };
}

function toWrite({ address, key }: DesiredHook) {
  const config = { url: address, content_type: "json", secret: key.reveal() };
  return { type: "gitea", active: true, branch_filter: "*", events: WRITTEN, config };
}

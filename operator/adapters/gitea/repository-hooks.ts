import type { HostRequest } from "../../ports/host-technology.ts";
import type { HostedRepository } from "../../ports/webhooks/pull-request-host.ts";
import type { RepositoryHook, RepositoryHooks, WantedHook } from "../../ports/webhooks/repository-hooks.ts";
import { fault, faultsOf, missingEvents, putHook } from "../host-api/hooks.ts";
import { unlessAbsent } from "../host-api/host-api.ts";
import { partsOf } from "../host-api/repository-calls.ts";

const HOOKS = "/repos/{owner}/{repo}/hooks";
/** The largest page that Gitea gives. */
const PAGE_SIZE = 50;
/** As hooks list them. A deleted branch is told by `delete` alone; `workflow_run` is Gitea's since 1.24. */
const EVENTS = ["pull_request", "pull_request_label", "pull_request_sync", "push", "delete", "workflow_run"];
/** When it is written, `pull_request` stands for reviews and comments as well. */
const WRITTEN = EVENTS.map((event) => (event === "pull_request" ? "pull_request_only" : event));
/** Those of other types have the bodies of a chat. */
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
 * The RepositoryHooks port over Gitea's API, https://docs.gitea.com/api/1.25/#tag/repository. It pauses no hook, and tells
 * neither deliveries nor whether there is a secret; certificates are checked as its administrator says. An edit ignores the
 * secret, so a new hook replaces the one that is there.
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

function toWrite({ address, key }: WantedHook) {
  const config = { url: address, content_type: "json", secret: key.reveal() };
  return { type: "gitea", active: true, branch_filter: "*", events: WRITTEN, config };
}

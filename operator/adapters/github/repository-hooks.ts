import type { HostRequest } from "../../ports/host-technology.ts";
import type { HostedRepository } from "../../ports/webhooks/pull-request-host.ts";
import type { DesiredHook, RepositoryHook, RepositoryHooks } from "../../ports/webhooks/repository-hooks.ts";
import { deliveryOf, fault, faultsOf, missingEvents, putHook } from "../host-api/hooks.ts";
import { unlessAbsent } from "../host-api/host-api.ts";
import { partsOf } from "../host-api/repository-calls.ts";

const HOOKS = "/repos/{owner}/{repo}/hooks";
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

/** RepositoryHooks port over GitHub's API, https://docs.github.com/en/rest/repos/webhooks. GitHub pauses no hook. */
export function githubRepositoryHooks(request: HostRequest): RepositoryHooks {
  const list = async (repository: HostedRepository, signal: AbortSignal) => {
    const asked = { ...partsOf(repository), per_page: 100 };
    return (await request<readonly Hook[]>(`GET ${HOOKS}`, asked, signal)).map(toHook);
  };
  return {
    list,
    async lastDelivery(repository, id, signal) {
      const asked = { ...partsOf(repository), id, per_page: 1 };
      const found = await unlessAbsent(request<readonly Delivery[]>(`GET ${HOOKS}/{id}/deliveries`, asked, signal));
      const [last] = found ?? [];
      return last && deliveryOf(last.status_code, `${last.status_code} ${last.status}`, last.delivered_at);
    },
    async put(repository, wanted, signal) {
      const of = partsOf(repository);
      const values = { ...of, ...toWrite(wanted) };
      await putHook(await list(repository, signal), wanted.address, {
        create: () => request(`POST ${HOOKS}`, { ...values, name: "web" }, signal),
        async edit(id) {
          await request(`PATCH ${HOOKS}/{id}`, { ...values, id }, signal);
          // GitHub itself pings a new one.
          await request(`POST ${HOOKS}/{id}/pings`, { ...of, id }, signal);
        },
        remove: (id) => unlessAbsent(request(`DELETE ${HOOKS}/{id}`, { ...of, id }, signal)),
      });
    },
    resume: async () => undefined,
    neededRight: () => "the permission Webhooks, read and write (classic tokens: admin:repo_hook)",
  };
}

function toHook({ id, active, events, updated_at, config }: Hook): RepositoryHook {
  const { url = "", content_type, insecure_ssl, secret } = config;
  return {
    id: String(id),
    url,
    events,
    state: active ? "active" : "inactive",
    changedAt: updated_at,
    faults: faultsOf(
      events.includes(ALL_EVENTS) ? undefined : missingEvents(events, EVENTS),
      fault("FormatWrong", content_type !== "json", "it does not send JSON"),
      fault("CertificateUnchecked", String(insecure_ssl ?? "0") !== "0", "it does not check our certificate"),
      fault("SecretMissing", !secret, "it has no secret"),
    ),
  };
}

function toWrite({ address, key }: DesiredHook) {
  const config = { url: address, content_type: "json", insecure_ssl: "0", secret: key.reveal() };
  return { active: true, events: EVENTS, config };
}

import type { HostRequest, RequestValues } from "../../ports/host-technology.ts";
import type { HostedRepository } from "../../ports/webhooks/pull-request-host.ts";
import type {
  DesiredHook,
  HookFault,
  LastDelivery,
  RepositoryHook,
  RepositoryHooks,
} from "../../ports/webhooks/repository-hooks.ts";
import { unlessAbsent } from "./host-api.ts";

/** Hook API of one kind of host. */
export interface HookApi<Hook, Delivery> {
  /** Path of a repository's hooks; `/{id}` below is one of them. */
  readonly path: string;
  /** Values of the path's placeholders. */
  readonly of: (repository: HostedRepository) => Readonly<Record<string, string>>;
  /** Query for the longest page. */
  readonly page: Readonly<Record<string, number>>;
  readonly read: (hook: Hook) => RepositoryHook;
  readonly write: (desired: DesiredHook) => RequestValues;
  /** Further values of a new hook. */
  readonly ofNew?: RequestValues;
  /** Changes a hook, with its key; absent where the API changes no keys. */
  readonly edit?: "PATCH" | "PUT";
  /** Path below a hook by which it delivers at once; absent without such a call. */
  readonly test?: string;
  /** Tests a hook that was just written. */
  readonly afterWrite?: (test: () => Promise<unknown>, isNew: boolean) => Promise<unknown>;
  /** Deliveries of a hook, youngest first; absent where the host shows none. */
  readonly log?: { readonly path: string; readonly read: (delivery: Delivery) => LastDelivery };
  readonly neededRight: string;
}

/** RepositoryHooks port by a host's API. */
export function repositoryHooks<Hook, Delivery>(
  request: HostRequest,
  { path, of, page, read, write, ofNew, edit, test, afterWrite, log, neededRight }: HookApi<Hook, Delivery>,
): RepositoryHooks {
  const one = `${path}/{id}`;
  const list = async (repository: HostedRepository, signal: AbortSignal) =>
    (await request<readonly Hook[]>(`GET ${path}`, { ...of(repository), ...page }, signal)).map(read);
  const deliver = async (repository: HostedRepository, id: string, signal: AbortSignal) => {
    if (test !== undefined) await request(`POST ${one}/${test}`, { ...of(repository), id }, signal);
  };
  return {
    list,
    async lastDelivery(repository, id, signal) {
      if (log === undefined) return undefined;
      const newest = { ...of(repository), id, per_page: 1 };
      const deliveries = await unlessAbsent(request<readonly Delivery[]>(`GET ${one}/${log.path}`, newest, signal));
      return deliveries?.slice(0, 1).map(log.read)[0];
    },
    // If keys can't be changed, a new hook replaces the others. They go afterwards, so that no event is missed;
    // duplicates are recognised.
    async put(repository, desired, signal) {
      const values = { ...of(repository), ...write(desired) };
      const existing = (await list(repository, signal)).filter(({ url }) => url === desired.address);
      const edited = edit && existing[0];
      const { id } =
        edited ?? (await request<{ id: string | number }>(`POST ${path}`, { ...values, ...ofNew }, signal));
      if (edited !== undefined) await request(`${edit} ${one}`, { ...values, id }, signal);
      await afterWrite?.(() => deliver(repository, String(id), signal), edited === undefined);
      for (const other of existing) {
        if (other !== edited) await unlessAbsent(request(`DELETE ${one}`, { ...of(repository), id: other.id }, signal));
      }
    },
    resume: deliver,
    neededRight: () => neededRight,
  };
}

/**
 * Faults of a hook: the required events that it does not send, and those of the rows that it has.
 *
 * @param rows of the host: a fault, true when it is there, and its message
 */
export function faultsOf(
  { events, required }: { readonly events: readonly string[]; readonly required: readonly string[] },
  ...rows: readonly (readonly [reason: HookFault["reason"], isThere: boolean, message: string])[]
): readonly HookFault[] {
  const missing = required.filter((event) => !events.includes(event));
  return [["EventsMissing", missing.length > 0, `it does not send ${missing.join(", ")}`] as const, ...rows]
    .filter(([, isThere]) => isThere)
    .map(([reason, , message]) => ({ reason, message }));
}

const UNAUTHENTIC = 401;

/** A delivery by our response's status. @param answer in the host's words */
export function deliveryOf(status: number, answer: string, at?: string | null): LastDelivery {
  return {
    answer,
    isAccepted: status >= 200 && status < 300,
    isUnauthentic: status === UNAUTHENTIC,
    ...(at ? { at: new Date(at).toISOString() } : {}),
  };
}

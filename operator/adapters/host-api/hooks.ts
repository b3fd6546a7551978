import type { HookFault, LastDelivery, RepositoryHook } from "../../ports/webhooks/repository-hooks.ts";

/** The calls of a host's API that make hooks. */
interface HookWrites<T> {
  create(): Promise<T>;
  /** Makes a hook what is wanted, its key included; left out where the API changes no keys. */
  readonly edit?: (id: string) => Promise<T>;
  remove(id: string): Promise<unknown>;
}

/**
 * Leaves one hook of the address, as it is wanted. Where keys can't be changed a new one replaces the others, which go when it
 * is there, so that no event is missed; what both deliver is recognised as the same.
 *
 * @returns what `create` or `edit` did
 */
export async function putHook<T>(
  hooks: readonly RepositoryHook[],
  address: string,
  { create, edit, remove }: HookWrites<T>,
): Promise<T> {
  const there = hooks.filter(({ url }) => url === address);
  const [first] = there;
  const isEdited = edit !== undefined && first !== undefined;
  const kept = await (isEdited ? edit(first.id) : create());
  for (const { id } of isEdited ? there.slice(1) : there) await remove(id);
  return kept;
}

/** The faults that there are. */
export function faultsOf(...found: readonly (HookFault | undefined)[]): readonly HookFault[] {
  return found.filter((fault) => fault !== undefined);
}

/** A fault where it holds. */
export function fault(reason: HookFault["reason"], isThere: boolean, message: string): HookFault | undefined {
  return isThere ? { reason, message } : undefined;
}

/** What a hook does not send of what it should. */
export function missingEvents(events: readonly string[], wanted: readonly string[]): HookFault | undefined {
  const missing = wanted.filter((event) => !events.includes(event));
  return fault("EventsMissing", missing.length > 0, `it does not send ${missing.join(", ")}`);
}

const UNAUTHENTIC = 401;

/** A delivery by the status of our answer. @param answer as the host words it */
export function deliveryOf(status: number, answer: string, at?: string | null): LastDelivery {
  return {
    answer,
    isAccepted: status >= 200 && status < 300,
    isUnauthentic: status === UNAUTHENTIC,
    ...(at ? { at: new Date(at).toISOString() } : {}),
  };
}

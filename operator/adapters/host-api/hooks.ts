import type { HookFault, LastDelivery, RepositoryHook } from "../../ports/webhooks/repository-hooks.ts";

interface HookWrites<T> {
  create(): Promise<T>;
  /** Makes a hook as desired, with its key; absent where the API changes no keys. */
  readonly edit?: (id: string) => Promise<T>;
  remove(id: string): Promise<unknown>;
}

/**
 * Leaves one desired hook of the address. Where keys can't be changed a new one replaces the others, which are deleted
 * afterwards, so that no event is missed; duplicates are recognised.
 *
 * @returns result of `create` or `edit`
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

/** Existing faults. */
export function faultsOf(...found: readonly (HookFault | undefined)[]): readonly HookFault[] {
  return found.filter((fault) => fault !== undefined);
}

/** A fault under a condition. */
export function fault(reason: HookFault["reason"], isThere: boolean, message: string): HookFault | undefined {
  return isThere ? { reason, message } : undefined;
}

/** Fault for desired events that a hook does not send. */
export function missingEvents(events: readonly string[], wanted: readonly string[]): HookFault | undefined {
  const missing = wanted.filter((event) => !events.includes(event));
  return fault("EventsMissing", missing.length > 0, `it does not send ${missing.join(", ")}`);
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

import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { isUuid } from "../../../../crds/names.ts";
import type { KubeClient } from "../../../kit/client/kube-client.ts";
import { type Clock, pause } from "../../../kit/time/clock.ts";
import { environmentType } from "../kinds.ts";

const LIST_INTERVAL_MS = 1_000;
const LIST_PAGE = 1_000;
const NEVER = new AbortController().signal;

/** Asks the API server for an environment missing in the cache: another replica may just have created it. */
export function liveLookUp({ client, clock }: { readonly client: KubeClient; readonly clock: Clock }) {
  const names = sharedList(clock, () => namesByUid(client));
  return async (idOrName: string): Promise<EphemeralEnvironment | undefined> => {
    if (!isUuid(idOrName)) return client.find(environmentType, { name: idOrName });
    const name = (await names()).get(idOrName);
    const found = name === undefined ? undefined : await client.find(environmentType, { name });
    return found?.metadata.uid === idOrName ? found : undefined;
  };
}

/** Exactly this environment, freshly read; not a successor of its name. */
export async function reread(
  client: KubeClient,
  { metadata }: EphemeralEnvironment,
): Promise<EphemeralEnvironment | undefined> {
  const current = await client.find(environmentType, { name: metadata.name });
  return current?.metadata.uid === metadata.uid ? current : undefined;
}

/** Keeps these fields only: ten thousand environments would be megabytes. */
async function namesByUid(client: KubeClient): Promise<ReadonlyMap<string, string>> {
  const keep = ({ metadata, ...object }: EphemeralEnvironment) => {
    const { name, uid, resourceVersion, generation, creationTimestamp } = metadata;
    return { ...object, metadata: { name, uid, resourceVersion, generation, creationTimestamp } };
  };
  const { items } = await client.list(environmentType, { metadataOnly: true, limit: LIST_PAGE, keep });
  return new Map(items.map(({ metadata }) => [metadata.uid, metadata.name]));
}

/**
 * Shares lists among simultaneous callers. Each gets a list that began after its call. The next list begins when the
 * previous one has ended, at least a second after its beginning. No list is kept.
 */
function sharedList<R>(clock: Clock, list: () => Promise<R>): () => Promise<R> {
  let last = Promise.resolve();
  let beginsMs = Number.NEGATIVE_INFINITY;
  let next: Promise<R> | undefined;
  const listInTurn = async () => {
    await last;
    const delayMs = beginsMs + LIST_INTERVAL_MS - clock.monotonicMs();
    if (delayMs > 0) await pause(clock, delayMs, NEVER);
    // Later callers need another list: this one may lack newer environments.
    next = undefined;
    beginsMs = clock.monotonicMs();
    const listing = list();
    last = listing.then(
      () => undefined,
      () => undefined,
    );
    return listing;
  };
  return () => {
    next ??= listInTurn();
    return next;
  };
}

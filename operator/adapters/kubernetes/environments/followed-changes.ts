import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import type { ObjectCache } from "../../../kit/cache/object-cache.ts";
import type { EnvironmentChange } from "../../../ports/facade/environments.ts";

/** Changes from this call on, see `Environments.changes`; the queue is bounded by the number of environments. */
export function followedChanges(
  cache: Pick<ObjectCache<EphemeralEnvironment>, "subscribe">,
  signal: AbortSignal,
): AsyncGenerator<readonly EnvironmentChange[], undefined> {
  const waiting = new Map<string, EnvironmentChange>();
  let wake = Promise.withResolvers<void>();
  const unsubscribe = cache.subscribe((_key, current, previous) => {
    const { uid, name } = ((current ?? previous) as EphemeralEnvironment).metadata;
    const earlier = waiting.get(uid);
    waiting.set(uid, { id: uid, name, current, previous: earlier === undefined ? previous : earlier.previous });
    wake.resolve();
  });
  // Also for a reader that never began.
  const end = () => {
    unsubscribe();
    wake.resolve();
  };
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  return (async function* () {
    try {
      while (!signal.aborted) {
        if (waiting.size === 0) await wake.promise;
        wake = Promise.withResolvers();
        const batch = [...waiting.values()];
        waiting.clear();
        if (batch.length > 0) yield batch;
      }
      return undefined;
    } finally {
      signal.removeEventListener("abort", end);
      unsubscribe();
    }
  })();
}

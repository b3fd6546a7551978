import { createObjectCache } from "../../../operator/kit/cache/indexed-cache.ts";
import { createReflector } from "../../../operator/kit/cache/reflector.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import type { KubeObject, ResourceType } from "../../../operator/kit/client/objects.ts";
import { silentLog } from "../../support/fixtures/silent-log.ts";

/** Times at which objects reached a state, from one watch over all of them. */
export interface ObservedStates {
  /** The first time of the object in the state, on `performance.now()`, including times before the call. */
  reached(name: string, deadlineMs?: number): Promise<number>;
  readonly count: number;
  stop(): Promise<void>;
}

export interface Observation<T extends KubeObject> {
  readonly client: KubeClient;
  readonly type: ResourceType<T>;
  readonly isReached: (object: T) => boolean;
}

/** Begins to watch; resolves with the first complete list. */
export async function observeStates<T extends KubeObject>(observation: Observation<T>): Promise<ObservedStates> {
  const { client, type, isReached } = observation;
  const reachedAt = new Map<string, number>();
  const awaited = new Map<string, (at: number) => void>();
  const see = (object: T) => {
    const { name } = object.metadata;
    if (reachedAt.has(name) || !isReached(object)) return;
    const at = performance.now();
    reachedAt.set(name, at);
    awaited.get(name)?.(at);
    awaited.delete(name);
  };
  // Other fields of thousands of objects are not needed.
  const transform = ({ apiVersion, kind, metadata }: T) => {
    const { name, namespace, uid, resourceVersion, generation } = metadata;
    return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion, generation } } as T;
  };
  const cache = createObjectCache<T>({
    transform(object) {
      see(object);
      return transform(object);
    },
  });
  const reflector = createReflector({ client, type, cache, log: silentLog });
  reflector.start();
  await cache.whenSynced(AbortSignal.timeout(60_000));
  return {
    reached(name, deadlineMs = 60_000) {
      const known = reachedAt.get(name);
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((resolve, reject) => {
        const late = () => reject(new Error(`'${name}' did not come to the wanted state within ${deadlineMs} ms`));
        const deadline = setTimeout(late, deadlineMs);
        awaited.set(name, (at) => {
          clearTimeout(deadline);
          resolve(at);
        });
      });
    },
    get count() {
      return reachedAt.size;
    },
    stop: () => reflector.stop(),
  };
}

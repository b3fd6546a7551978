import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { REQUESTED_ANNOTATION } from "../../../crds/group.ts";
import type { ObjectCache } from "../../kit/cache/object-cache.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import { type Clock, pause } from "../../kit/time/clock.ts";
import type { SleepingEnvironments } from "../../ports/sleeping-environments.ts";
import { environmentType } from "./kinds.ts";

interface Context {
  readonly client: KubeClient;
  readonly cache: ObjectCache<EphemeralEnvironment>;
  readonly clock: Clock;
}

/** SleepingEnvironments port on a cache of the API server's objects; its only write is one annotation. */
export function kubernetesSleepingEnvironments({ client, cache, clock }: Context): SleepingEnvironments {
  const listeners = new Map<string, Set<() => void>>();
  cache.subscribe((name) => {
    for (const changed of listeners.get(name) ?? []) changed();
  });
  return {
    get complete() {
      return cache.synced;
    },
    find: (name) => cache.get(name),
    async untilChanged(name, longestMs, signal) {
      const change = new AbortController();
      const changed = () => change.abort();
      const waiting = listeners.get(name) ?? new Set();
      listeners.set(name, waiting.add(changed));
      await pause(clock, longestMs, AbortSignal.any([signal, change.signal]));
      waiting.delete(changed);
      if (waiting.size === 0) listeners.delete(name);
    },
    async recordRequest({ metadata }, at) {
      const { name, uid } = metadata;
      // With its UID: another environment may have taken the name.
      const patch = { metadata: { uid, annotations: { [REQUESTED_ANNOTATION]: at.toISOString() } } };
      cache.written(await client.patch(environmentType, { name }, patch, { as: "merge" }));
    },
  };
}

import type { ConfigSet } from "../../../crds/config-set.ts";
import { ClusterUnavailable } from "../../../crds/errors.ts";
import { nameProblem } from "../../../crds/names.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import type { ObjectCache } from "../../kit/cache/object-cache.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import type { KubeObject, ResourceType } from "../../kit/client/objects.ts";
import type { Clock } from "../../kit/time/clock.ts";
import { within } from "../../kit/time/deadline.ts";
import type { CreationKind, UnknownNames } from "../../ports/api/unknown-names.ts";
import { configSetType, repositoryType } from "./kinds.ts";
import { kept } from "./store.ts";
import { forUser, UNAVAILABLE_RETRY_SECONDS } from "./user-request.ts";

/** A late watch is rare: more at a time are someone's guesses. */
const MOST_AT_ONCE = 4;
const ABSENT_MS = 1_000;
/** Only bounds memory. */
const MOST_ABSENT = 1_000;
const DEADLINE_MS = 2_000;

interface Sources {
  readonly client: Pick<KubeClient, "find">;
  readonly caches: { readonly repositories: ObjectCache<Repository>; readonly configSets: ObjectCache<ConfigSet> };
  /** The platform's own. */
  readonly namespace: string;
  readonly clock: Clock;
}

/** UnknownNames port on the watch caches, which take what a look-up finds, like an own write. */
export function kubernetesUnknownNames({ client, caches, namespace, clock }: Sources): UnknownNames {
  /** Ends of the times in which absent names are not requested again. */
  const absent = new Map<string, number>();
  const underWay = new Map<string, Promise<void>>();

  async function ask<T extends KubeObject>(type: ResourceType<T>, cache: ObjectCache<T>, name: string) {
    const found = await within({ clock, deadlineMs: DEADLINE_MS }, ({ signal, cutBy }) =>
      client.find(type, { name, namespace }, { signal }).catch((cause: unknown) => {
        throw cutBy() === undefined ? cause : new ClusterUnavailable(UNAVAILABLE_RETRY_SECONDS, { cause });
      }),
    );
    if (found !== undefined) kept(cache, found);
    return found !== undefined;
  }

  const isKnown: Readonly<Record<CreationKind, (name: string) => boolean>> = {
    repository: (name) => isKnownTo(caches.repositories, name),
    configSet: (name) => isKnownTo(caches.configSets, name),
  };
  const requested: Readonly<Record<CreationKind, (name: string) => Promise<boolean>>> = {
    repository: (name) => ask(repositoryType, caches.repositories, name),
    configSet: (name) => ask(configSetType, caches.configSets, name),
  };
  // Before its first list the cache refuses by itself.
  const isKnownTo = <T extends KubeObject>(cache: ObjectCache<T>, name: string) =>
    !cache.synced || cache.get(`${namespace}/${name}`) !== undefined;

  async function look(kind: CreationKind, name: string, key: string): Promise<void> {
    if (await forUser(() => requested[kind](name))) return;
    if (absent.size >= MOST_ABSENT) absent.clear();
    absent.set(key, clock.monotonicMs() + ABSENT_MS);
  }

  return {
    async lookUp(kind, name) {
      if (nameProblem(name, kind) !== undefined || isKnown[kind](name)) return;
      const key = `${kind}/${name}`;
      const sameLook = underWay.get(key);
      if (sameLook !== undefined) return sameLook;
      if (underWay.size >= MOST_AT_ONCE || clock.monotonicMs() < (absent.get(key) ?? 0)) return;
      const looking = look(kind, name, key).finally(() => underWay.delete(key));
      underWay.set(key, looking);
      return looking;
    },
  };
}

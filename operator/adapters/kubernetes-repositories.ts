import type { Repository } from "../../crds/repository.ts";
import type { ObjectCache } from "../kit/object-cache.ts";
import type { Repositories } from "../ports/repositories.ts";
import { complete } from "./user-call.ts";

/** The Repositories port on this process's watch cache of the platform's namespace. */
export function kubernetesRepositories(cache: ObjectCache<Repository>, namespace: string): Repositories {
  return {
    find: (name) => complete(cache).get(`${namespace}/${name}`),
    list: () => complete(cache).list(),
  };
}

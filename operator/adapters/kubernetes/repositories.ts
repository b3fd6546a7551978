import type { Repository } from "../../../crds/repository/repository.ts";
import type { ObjectCache } from "../../kit/cache/object-cache.ts";
import type { Repositories } from "../../ports/repositories.ts";
import { complete } from "./user-request.ts";

/** Repositories port on the watch cache. */
export function kubernetesRepositories(cache: ObjectCache<Repository>, namespace: string): Repositories {
  return {
    find: (name) => complete(cache).get(`${namespace}/${name}`),
    list: () => complete(cache).list(),
  };
}

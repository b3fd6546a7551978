import { type Repository, repositoryKind } from "../../crds/repository.ts";
import { type ResourceType, resourceType } from "../kit/kube-object.ts";
import type { ObjectCache } from "../kit/object-cache.ts";
import type { Repositories } from "../ports/repositories.ts";

export const repositoryType: ResourceType<Repository> = resourceType<Repository>(repositoryKind);

/** The Repositories port on this process's watch cache of the platform's namespace. */
export function kubernetesRepositories(cache: ObjectCache<Repository>, namespace: string): Repositories {
  return {
    find: (name) => cache.get(`${namespace}/${name}`),
    list: () => [...cache.list()],
  };
}

import type { Controller } from "../../kit/controller/controller.ts";
import type { Caches } from "../../ports/caches.ts";
import { createRepositoryReconciler, type RepositoryDependencies } from "./reconcile.ts";
import { enqueueOnRepositories } from "./watches.ts";

/** The controller that checks Repositories, and keeps those that are used. */
export function repositoryController(dependencies: RepositoryDependencies & { readonly caches: Caches }): Controller {
  const { caches } = dependencies;
  return {
    name: "repositories",
    reconcile: createRepositoryReconciler(dependencies),
    watches: [(enqueue) => enqueueOnRepositories(caches, enqueue)],
    initialKeys: () => caches.repositories.list().map(({ metadata }) => metadata.name),
    workers: 8,
  };
}

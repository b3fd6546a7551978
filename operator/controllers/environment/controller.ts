import { unobservedTraceparent } from "../../../crds/environment/ephemeral-environment.ts";
import type { Controller } from "../../kit/controller/controller.ts";
import type { Caches } from "../../ports/caches.ts";
import type { EnvironmentDependencies } from "./dependencies.ts";
import { oldestFirst } from "./expiration/limiter.ts";
import { createEnvironmentReconciler } from "./reconcile.ts";
import { enqueueOnChanges } from "./watches.ts";

/** The controller of environments. */
export function environmentController(dependencies: EnvironmentDependencies & { readonly caches: Caches }): Controller {
  const { caches, settings } = dependencies;
  return {
    name: "environments",
    reconcile: createEnvironmentReconciler(dependencies),
    causeOf: (name) => {
      const environment = caches.environments.get(name);
      return environment && unobservedTraceparent(environment);
    },
    watches: [(enqueue) => enqueueOnChanges(caches, enqueue)],
    initialKeys: () => oldestFirst(caches.environments.list()).map(({ metadata }) => metadata.name),
    workers: settings.reconcile.workers,
  };
}

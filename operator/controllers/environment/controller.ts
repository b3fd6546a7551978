import { unobservedTraceparent } from "../../../crds/environment/ephemeral-environment.ts";
import type { Controller } from "../../kit/controller/controller.ts";
import { BY_WAKING, type Caches, WAKING } from "../../ports/caches.ts";
import type { EnvironmentDependencies } from "./dependencies.ts";
import { oldestFirst } from "./expiration/limiter.ts";
import { createEnvironmentReconciler } from "./reconcile.ts";
import { WakeLimiter } from "./wake-limiter.ts";
import { enqueueOnChanges } from "./watches.ts";

/** The controller of environments. */
export function environmentController(dependencies: EnvironmentDependencies & { readonly caches: Caches }): Controller {
  const { caches, settings } = dependencies;
  const wakeLimiter = new WakeLimiter({ ...dependencies, waking: () => caches.environments.by(BY_WAKING, WAKING) });
  return {
    name: "environments",
    reconcile: createEnvironmentReconciler({ ...dependencies, wakeLimiter }),
    causeOf: (name) => {
      const environment = caches.environments.get(name);
      return environment && unobservedTraceparent(environment);
    },
    watches: [(enqueue) => enqueueOnChanges(caches, enqueue), (enqueue) => wakeLimiter.watch(enqueue)],
    initialKeys: () => oldestFirst(caches.environments.list()).map(({ metadata }) => metadata.name),
    workers: settings.reconcile.workers,
  };
}

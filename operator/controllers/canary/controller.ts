import type { Controller } from "../../kit/controller/controller.ts";
import type { Caches } from "../../ports/caches.ts";
import { type CanaryDependencies, createCanaryReconciler } from "./reconcile.ts";
import { CANARY_KEY, enqueueOnCanaries } from "./watches.ts";

/** The controller that makes and deletes canaries. */
export function canaryController(dependencies: CanaryDependencies & { readonly caches: Caches }): Controller {
  const { settings, caches } = dependencies;
  return {
    name: "canary",
    reconcile: createCanaryReconciler(dependencies),
    watches: [(enqueue) => enqueueOnCanaries(caches, enqueue)],
    initialKeys: () => (settings.canary === undefined ? [] : [CANARY_KEY]),
    workers: 1,
  };
}

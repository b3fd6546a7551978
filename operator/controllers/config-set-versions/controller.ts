import type { Controller } from "../../kit/controller/controller.ts";
import type { Caches } from "../../ports/caches.ts";
import { type ConfigSetVersionDependencies, discardWhenUnused } from "./reconcile.ts";
import { enqueueOnDisuse } from "./watches.ts";

/** The controller that discards versions of config sets. */
export function configSetVersionController(
  dependencies: ConfigSetVersionDependencies & { readonly caches: Caches },
): Controller {
  const { caches } = dependencies;
  return {
    name: "config set versions",
    reconcile: discardWhenUnused(dependencies),
    watches: [(enqueue) => enqueueOnDisuse(caches, enqueue)],
    initialKeys: () => caches.revisions.list().map(({ metadata }) => metadata.name),
    workers: 1,
  };
}

import type { Controller } from "../../kit/controller/controller.ts";
import type { Caches } from "../../ports/caches.ts";
import { createHookReconciler, type WebhookRegistrationDependencies } from "./reconcile.ts";
import { enqueueOnChecks } from "./watches.ts";

/** The controller that checks webhooks of Repositories on their hosts. */
export function webhookRegistrationController(
  dependencies: WebhookRegistrationDependencies & { readonly caches: Caches },
): Controller {
  const { caches } = dependencies;
  return {
    name: "hooks",
    reconcile: createHookReconciler(dependencies),
    watches: [(enqueue) => enqueueOnChecks(caches, enqueue)],
    initialKeys: () =>
      caches.repositories.list().flatMap(({ metadata, spec }) => (spec.host === undefined ? [] : [metadata.name])),
    workers: 2,
  };
}

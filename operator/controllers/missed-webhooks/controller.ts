import type { Controller } from "../../kit/controller/controller.ts";
import type { Caches } from "../../ports/caches.ts";
import { createMissedWebhookReconciler, type MissedWebhookDependencies } from "./reconcile.ts";
import { enqueueOnNewRepositories } from "./watches.ts";

/** Writes to GitHub are a second apart. */
const LONGEST_SWEEP_MS = 600_000;
const BACKOFF_MS = { first: 5_000, longest: 900_000 };

/** The controller that asks hosts for pull requests whose webhooks were missed. */
export function missedWebhookController(
  dependencies: MissedWebhookDependencies & { readonly caches: Caches },
): Controller {
  const { caches } = dependencies;
  return {
    name: "missed webhooks",
    reconcile: createMissedWebhookReconciler(dependencies),
    watches: [(enqueue) => enqueueOnNewRepositories(caches, enqueue)],
    initialKeys: () => caches.repositories.list().map(({ metadata }) => metadata.name),
    workers: 2,
    deadlineMs: LONGEST_SWEEP_MS,
    backoffMs: BACKOFF_MS,
  };
}

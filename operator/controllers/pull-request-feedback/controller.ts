import { isMadeByEvent } from "../../../crds/environment/managed-by.ts";
import type { Controller } from "../../kit/controller/controller.ts";
import type { Caches } from "../../ports/caches.ts";
import { createFeedbackReconciler, type PullRequestFeedbackDependencies } from "./reconcile.ts";
import { enqueueOnReports } from "./watches.ts";

/** Hosts count calls that they refuse, too. */
const BACKOFF_MS = { first: 2_000, longest: 300_000 };

/** The controller that reports environments to the hosts of their pull requests, and retries a failed commit status. */
export function pullRequestFeedbackController(
  dependencies: PullRequestFeedbackDependencies & { readonly caches: Caches },
): Controller {
  const { caches } = dependencies;
  return {
    name: "feedback",
    reconcile: createFeedbackReconciler(dependencies),
    watches: [(enqueue) => enqueueOnReports(caches, enqueue)],
    initialKeys: () => caches.environments.list().flatMap((one) => (isMadeByEvent(one) ? [one.metadata.name] : [])),
    workers: 4,
    backoffMs: BACKOFF_MS,
  };
}

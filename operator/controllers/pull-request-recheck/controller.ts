import type { Controller } from "../../kit/controller/controller.ts";
import type { Caches } from "../../ports/caches.ts";
import { createRecheck, type PullRequestRecheckDependencies } from "./reconcile.ts";
import { enqueueOnPullRequests, newPullRequestEnvironments } from "./watches.ts";

/** The controller that decides once more about environments of pull requests that are new. */
export function pullRequestRecheckController(
  dependencies: PullRequestRecheckDependencies & { readonly caches: Caches },
): Controller {
  const { caches, clock } = dependencies;
  return {
    name: "pull requests",
    reconcile: createRecheck(dependencies),
    watches: [(enqueue) => enqueueOnPullRequests(caches, enqueue)],
    initialKeys: () => newPullRequestEnvironments(caches, clock),
    workers: 2,
  };
}

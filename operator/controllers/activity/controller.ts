import type { Controller } from "../../kit/controller/controller.ts";
import { type ActivityDependencies, createActivityReconciler } from "./reconcile.ts";

/** The one key. No change makes it due, so nothing is watched. */
const KEY = "requests";
/** Many instances of an ingress controller may each take some seconds. */
const LONGEST_MS = 60_000;
/** Requests are no longer known after three minutes. */
const BACKOFF_MS = { first: 5_000, longest: 60_000 };

/** The controller that observes which environments get requests. */
export function activityController(dependencies: ActivityDependencies): Controller {
  return {
    name: "activity",
    reconcile: createActivityReconciler(dependencies),
    watches: [],
    initialKeys: () => (dependencies.ingressTraffic === undefined ? [] : [KEY]),
    workers: 1,
    deadlineMs: LONGEST_MS,
    backoffMs: BACKOFF_MS,
  };
}

import type { Controller } from "../../kit/controller/controller.ts";
import { type CostAllocationDependencies, createCostReconciler } from "./reconcile.ts";

/** The one key. No change makes it due, so nothing is watched: it follows the hours. */
const KEY = "allocations";
/** A new leader asks for three days. */
const LONGEST_MS = 1_200_000;
/** Nothing waits for it. */
const BACKOFF_MS = { first: 30_000, longest: 900_000 };

/** The controller that keeps what a cost monitor says of environments. */
export function costAllocationController(dependencies: CostAllocationDependencies): Controller {
  return {
    name: "cost allocation",
    reconcile: createCostReconciler(dependencies),
    watches: [],
    initialKeys: () => (dependencies.costMonitor === undefined ? [] : [KEY]),
    workers: 1,
    deadlineMs: LONGEST_MS,
    backoffMs: BACKOFF_MS,
  };
}

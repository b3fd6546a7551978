import type { Controller, Watch } from "../../kit/controller/controller.ts";
import { summarizeDays } from "../../rollups/daily-summaries.ts";
import { createOrphanedValues, deleteExpiredTokens } from "./api-tokens.ts";
import type { CollectionDependencies, GarbageCollectionDependencies } from "./dependencies.ts";
import { dropOldDeliveries, pruneRecords, removeFinishedMessages, shrinkOldRollups } from "./old-records.ts";
import { createSweep, repeatedSweeps } from "./orphans.ts";
import { COLLECTIONS, type Collections, collectGarbage } from "./reconcile.ts";
import { removeOnDeletion } from "./watches.ts";

/** No user waits for a collection, so a failed one is not retried at once. */
const FIRST_RETRY_MS = 30_000;
/** A sweep deletes one orphan after the other. */
const LONGEST_COLLECTION_MS = 600_000;

/** The controller that deletes periodically: orphans, and what is old. */
export function garbageCollectionController(dependencies: GarbageCollectionDependencies): Controller {
  const { caches, deletions, log } = dependencies;
  const tokenValues = createOrphanedValues(dependencies);
  const collections = {
    orphans: repeatedSweeps(createSweep(dependencies), log),
    records: pruneRecords(dependencies),
    tokens: deleteExpiredTokens(dependencies),
    "token values": tokenValues.sweep,
    deliveries: dropOldDeliveries(dependencies),
    notifications: removeFinishedMessages(dependencies),
    rollups: shrinkOldRollups(dependencies),
    summaries: summarizeDays(dependencies),
  };
  return garbageCollection(dependencies, collections, [
    (enqueue) =>
      removeOnDeletion(caches.apiTokens, deletions, (deleted) => {
        tokenValues.deleted(deleted);
        enqueue("token values");
      }),
  ]);
}

/** A controller with a worker for each collection, so none delays another. */
export function garbageCollection(
  dependencies: CollectionDependencies<"settings" | "random" | "loopSucceeded">,
  collections: Collections,
  watches: readonly Watch[],
): Controller {
  const longest = dependencies.settings.sweep.everySeconds * 1_000;
  return {
    name: "garbage collection",
    reconcile: collectGarbage(dependencies, collections),
    watches,
    initialKeys: () => COLLECTIONS,
    workers: COLLECTIONS.length,
    deadlineMs: LONGEST_COLLECTION_MS,
    backoffMs: { first: Math.min(FIRST_RETRY_MS, longest), longest },
  };
}

import type { Settings } from "../../../config/settings.ts";
import type { OwnDeletions } from "../../kit/client/own-deletions.ts";
import type { Controller, Watch } from "../../kit/controller/controller.ts";
import type { Log } from "../../kit/log.ts";
import type { Rollups } from "../../ports/api/history.ts";
import type { ApiTokens } from "../../ports/api-tokens.ts";
import type { Caches } from "../../ports/caches.ts";
import type { Clock, ServerClock } from "../../ports/clock.ts";
import type { Cluster } from "../../ports/cluster.ts";
import type { Deployer } from "../../ports/deployer.ts";
import type { EventRecorder } from "../../ports/event-recorder.ts";
import type { Inventory, NamespaceContents } from "../../ports/namespace-contents.ts";
import type { Notifications } from "../../ports/notifications/notifications.ts";
import type { Metrics } from "../../ports/observability/metrics.ts";
import type { RollupStore } from "../../ports/observability/rollups.ts";
import type { Pods } from "../../ports/pods.ts";
import type { Records } from "../../ports/records.ts";
import type { SecretManager } from "../../ports/secret-manager.ts";
import type { WebhookDeliveries } from "../../ports/webhooks/webhook-deliveries.ts";
import { summarizeDays } from "../../rollups/daily-summaries.ts";
import { createOrphanedValues, deleteExpiredTokens } from "./api-tokens.ts";
import { dropOldDeliveries, removeFinishedMessages, shrinkOldRollups } from "./old-records.ts";
import { createSweep } from "./orphans.ts";
import { COLLECTIONS, type Collections, type CollectorDependencies, collectGarbage } from "./reconcile.ts";
import { removeOnDeletion } from "./watches.ts";

/** The settings and ports of all collections; each of them names its part. */
export interface GarbageCollectionDependencies {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  /** Uniform in [0, 1): spreads periodic work. */
  readonly random: () => number;
  /** Notes that a collection of this name ended without an error. */
  readonly loopSucceeded: Metrics["loopSucceeded"];
  readonly caches: Pick<Caches, "apiTokens" | "environments" | "records">;
  /** The deletions of this process. */
  readonly deletions: OwnDeletions;
  readonly belongings: Inventory["belongings"];
  readonly isKnown: Inventory["isKnown"];
  readonly livingUids: Inventory["livingUids"];
  readonly livingTokens: Inventory["livingTokens"];
  readonly cluster: Cluster;
  readonly namespaceContents: NamespaceContents;
  readonly deployer: Deployer;
  readonly pods: Pods;
  readonly secretManager: SecretManager;
  readonly records: Records;
  readonly events: EventRecorder;
  readonly apiTokens: ApiTokens;
  readonly webhookDeliveries: WebhookDeliveries;
  readonly notifications: Notifications;
  readonly rollupStore: RollupStore;
  readonly rollupDays: Rollups;
}

/** No user waits for a collection, so a failed one is not retried at once. */
const FIRST_RETRY_MS = 30_000;
/** A sweep deletes one orphan after the other. */
const LONGEST_COLLECTION_MS = 600_000;

/** The controller that deletes periodically: orphans, and what is old. */
export function garbageCollectionController(dependencies: GarbageCollectionDependencies): Controller {
  const { caches, deletions } = dependencies;
  const tokenValues = createOrphanedValues(dependencies);
  const collections = {
    orphans: createSweep(dependencies),
    tokens: deleteExpiredTokens(dependencies),
    tokenValues: tokenValues.sweep,
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
  dependencies: CollectorDependencies,
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

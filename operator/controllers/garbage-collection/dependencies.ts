import type { OwnDeletions } from "../../kit/client/own-deletions.ts";
import type { ApiTokens } from "../../ports/api-tokens.ts";
import type { Caches } from "../../ports/caches.ts";
import type { ServerClock } from "../../ports/cluster.ts";
import type { EventRecorder } from "../../ports/event-recorder.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { Inventory } from "../../ports/namespace-contents.ts";
import type { Notifications } from "../../ports/notifications.ts";
import type { RollupStore, Rollups } from "../../ports/rollups.ts";
import type { WebhookDeliveries } from "../../ports/webhooks/webhook-deliveries.ts";
import type { TeardownDependencies } from "../environment/deletion/teardown-steps.ts";

/** The settings and ports of all collections, each of which picks its part; the sweep of orphans tears down, too. */
export interface GarbageCollectionDependencies extends TeardownDependencies {
  readonly serverClock: ServerClock;
  /** Uniform in [0, 1): spreads periodic work. */
  readonly random: () => number;
  /** Notes that a collection of this name ended without an error. */
  readonly loopSucceeded: Metrics["loopSucceeded"];
  readonly caches: Caches;
  /** The deletions of this process. */
  readonly deletions: OwnDeletions;
  readonly belongings: Inventory["belongings"];
  readonly isKnown: Inventory["isKnown"];
  readonly livingUids: Inventory["livingUids"];
  readonly livingTokens: Inventory["livingTokens"];
  readonly events: EventRecorder;
  readonly apiTokens: ApiTokens;
  readonly webhookDeliveries: WebhookDeliveries;
  readonly notifications: Notifications;
  readonly rollupStore: RollupStore;
  readonly rollupDays: Rollups;
}

/** Settings and ports of one collection. */
export type CollectionDependencies<Name extends keyof GarbageCollectionDependencies> = Pick<
  GarbageCollectionDependencies,
  Name
>;

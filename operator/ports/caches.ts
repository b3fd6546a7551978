import type { ApiToken } from "../../crds/api-token.ts";
import type { ConfigSet } from "../../crds/config-set.ts";
import type { EnvironmentRecord } from "../../crds/environment/environment-record.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import type { Notification } from "../../crds/notifications/notification.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import type { WebhookDelivery } from "../../crds/webhooks/webhook-delivery.ts";
import type { ObjectCache } from "../kit/cache/object-cache.ts";
import type { WireObject } from "../kit/client/kinds.ts";
import type { KubeObject } from "../kit/client/objects.ts";

/** Indexes of environments: by UID, used Repositories, config set, and idempotency key of the creation. */
export const BY_UID = "uid";
export const BY_REPOSITORY = "repository";
export const BY_CONFIG_SET = "config set";
export const BY_CREATION_KEY = "creation key";
/** Index of environments by the one that their databases are still to be copied from, see `pendingCopySource`. */
export const BY_COPY_SOURCE = "copy source";
/** Index of environments by the commit whose status they may report, see `reportedCommitKey`. */
export const BY_REPORTED_COMMIT = "reported commit";
/** Index of environments whose state of sleep is `waking` (`WAKING`). */
export const BY_WAKING = "waking";
export const WAKING = "waking";
/** Index of API tokens by the owner's subject; they are also indexed by UID. */
export const BY_OWNER = "owner";
/** Index of webhook deliveries and records by pull request, see `pullRequestKey`. */
export const BY_PULL_REQUEST = "pull request";
/**
 * Indexes of webhook deliveries: by deduplication key, by the commit whose pipeline they report, without an outcome
 * (`WAITING`), waiting by their key (`waitingKeyOf`), and undecided, by Repository and all (`ALL`).
 */
export const BY_DEDUPLICATION_KEY = "deduplicationKey";
export const BY_COMMIT = "commit";
export const BY_WAITING = "waiting";
export const WAITING = "waiting";
export const BY_WAITING_KEY = "waiting key";
export const BY_UNDECIDED = "undecided";
export const ALL = "*";
/** Index of unfinished Notifications by destination. */
export const BY_DESTINATION = "destination";

/** Caches of environments' objects, by plural. */
export type OwnedCaches = ReadonlyMap<string, ObjectCache<WireObject>>;

/** Existing environments, and the records of deleted ones. */
export interface EnvironmentLists {
  readonly environments: { list(): readonly EphemeralEnvironment[] };
  readonly records: { list(): readonly EnvironmentRecord[] };
}

/** Caches of this process, to which the controllers' watches subscribe. */
export interface Caches {
  readonly environments: ObjectCache<EphemeralEnvironment>;
  readonly repositories: ObjectCache<Repository>;
  readonly configSets: ObjectCache<ConfigSet>;
  readonly apiTokens: ObjectCache<ApiToken>;
  readonly webhookDeliveries: ObjectCache<WebhookDelivery>;
  readonly records: ObjectCache<EnvironmentRecord>;
  readonly notifications: ObjectCache<Notification>;
  readonly rollups: ObjectCache<WireObject>;
  readonly revisions: ObjectCache<WireObject>;
  readonly children: OwnedCaches;
  /**
   * Field managers of the last spec change, unless the platform made it; for environments, config sets and
   * Repositories.
   */
  writersOf(object: KubeObject): readonly string[];
}

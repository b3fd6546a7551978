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

/** Indexes of the environments: by UID, by the Repositories they use, by their config set, by the idempotency key they were made with. */
export const BY_UID = "uid";
export const BY_REPOSITORY = "repository";
export const BY_CONFIG_SET = "config set";
export const BY_CREATION_KEY = "creation key";
/** Index of the API tokens by the owner's subject; they have one by UID, too. */
export const BY_OWNER = "owner";
/** Index of the webhooks' deliveries and of the records by the pull request they are about, see `pullRequestKey`. */
export const BY_PULL_REQUEST = "pull request";
/** Indexes of the webhooks' deliveries: by their meaning, by the commit whose pipeline they report, those that have no outcome (`WAITING`), those that wait by their key (`waitingKeyOf`), and those that are undecided, by Repository and all (`ALL`). */
export const BY_MEANING = "meaning";
export const BY_COMMIT = "commit";
export const BY_WAITING = "waiting";
export const WAITING = "waiting";
export const BY_WAITING_KEY = "waiting key";
export const BY_UNDECIDED = "undecided";
export const ALL = "*";
/** Index of the Notifications that are neither sent nor given up, by their destination. */
export const BY_DESTINATION = "destination";

/** Caches of the objects that belong to environments, by the plural of their kind. */
export type OwnedCaches = ReadonlyMap<string, ObjectCache<WireObject>>;

/** What this process watches, as the controllers' watches subscribe to it. */
export interface Caches {
  readonly environments: ObjectCache<EphemeralEnvironment>;
  readonly repositories: ObjectCache<Repository>;
  readonly configSets: ObjectCache<ConfigSet>;
  readonly apiTokens: ObjectCache<ApiToken>;
  readonly webhookDeliveries: ObjectCache<WebhookDelivery>;
  /** The records of deleted environments. */
  readonly records: ObjectCache<EnvironmentRecord>;
  readonly notifications: ObjectCache<Notification>;
  /** The ConfigMaps with the rollups of what was counted. */
  readonly rollups: ObjectCache<WireObject>;
  /** The ControllerRevisions that keep versions of config sets. */
  readonly revisions: ObjectCache<WireObject>;
  readonly children: OwnedCaches;
  /** The field managers of the last change of an object's spec, unless that was the platform; of environments, config sets and Repositories. */
  writersOf(object: KubeObject): readonly string[];
}

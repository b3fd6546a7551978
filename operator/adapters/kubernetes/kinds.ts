import { type ApiToken, apiTokenKind } from "../../../crds/api-token.ts";
import { CONFIG_SET_UID_LABEL, type ConfigSet, configSetKind } from "../../../crds/config-set.ts";
import { reportedCommitKey } from "../../../crds/environment/commit-status.ts";
import { pendingCopySource } from "../../../crds/environment/database-copy.ts";
import { type EnvironmentRecord, recordKind, TRIGGER_LABEL } from "../../../crds/environment/environment-record.ts";
import {
  type EphemeralEnvironment,
  environmentKind,
  repositoriesOf,
} from "../../../crds/environment/ephemeral-environment.ts";
import { creationMark } from "../../../crds/environment/idempotency-record.ts";
import { ENVIRONMENT_UID_LABEL } from "../../../crds/group.ts";
import {
  destinationOf,
  isUnsent,
  type Notification,
  notificationKind,
} from "../../../crds/notifications/notification.ts";
import { type Repository, repositoryKind } from "../../../crds/repository/repository.ts";
import { COUNTED_RESOURCES } from "../../../crds/usage/usage.ts";
import {
  isPending,
  isUndecided,
  isWaiting,
  pullRequestsOf,
  reportedCommit,
  type WebhookDelivery,
  waitingKeyOf,
  webhookDeliveryKind,
} from "../../../crds/webhooks/webhook-delivery.ts";
import { type WatchedKind, withoutHistory } from "../../kit/cache/watched-kind.ts";
import {
  configMapKind,
  limitRangeKind,
  namespaceKind,
  networkPolicyKind,
  resourceQuotaKind,
  revisionKind,
  roleBindingKind,
  serviceAccountKind,
  type WireObject,
} from "../../kit/client/kinds.ts";
import { type KubeObject, type ResourceType, resourceType } from "../../kit/client/objects.ts";
import {
  ALL,
  BY_COMMIT,
  BY_CONFIG_SET,
  BY_COPY_SOURCE,
  BY_CREATION_KEY,
  BY_DEDUPLICATION_KEY,
  BY_DESTINATION,
  BY_OWNER,
  BY_PULL_REQUEST,
  BY_REPORTED_COMMIT,
  BY_REPOSITORY,
  BY_UID,
  BY_UNDECIDED,
  BY_WAITING,
  BY_WAITING_KEY,
  BY_WAKING,
  WAITING,
  WAKING,
} from "../../ports/caches.ts";
import { ROLLUP_LABEL } from "./records/rollups.ts";

/** The platform's own kinds, for the client. */
export const environmentType: ResourceType<EphemeralEnvironment> = resourceType(environmentKind);
export const repositoryType: ResourceType<Repository> = resourceType(repositoryKind);
export const configSetType: ResourceType<ConfigSet> = resourceType(configSetKind);
export const apiTokenType: ResourceType<ApiToken> = resourceType(apiTokenKind);
export const notificationType: ResourceType<Notification> = resourceType(notificationKind);
export const recordType: ResourceType<EnvironmentRecord> = resourceType(recordKind);
export const webhookDeliveryType: ResourceType<WebhookDelivery> = resourceType(webhookDeliveryKind);

const uidOf = ({ metadata }: KubeObject): readonly string[] => [metadata.uid];

/** Wraps the trimming of a kind, to note dropped parts. */
type Noting = <T extends KubeObject>(trim: (object: T) => T) => (object: T) => T;

export const watchedEnvironments = (noting: Noting): WatchedKind<EphemeralEnvironment> => ({
  type: environmentType,
  trim: noting(withoutHistory),
  isInterned: true,
  indexes: {
    [BY_UID]: uidOf,
    [BY_REPOSITORY]: repositoriesOf,
    [BY_CONFIG_SET]: ({ spec }) => [spec.configSet?.name ?? []].flat(),
    [BY_CREATION_KEY]: (environment) => [creationMark(environment)?.key ?? []].flat(),
    [BY_REPORTED_COMMIT]: (environment) => [reportedCommitKey(environment) ?? []].flat(),
    [BY_COPY_SOURCE]: (environment) => [pendingCopySource(environment) ?? []].flat(),
    [BY_WAKING]: ({ status }) => (status?.sleep?.state === "waking" ? [WAKING] : []),
  },
});

export const watchedRepositories = (namespace: string, noting: Noting): WatchedKind<Repository> => ({
  type: repositoryType,
  where: { namespace },
  trim: noting(withoutHistory),
});

export const watchedConfigSets = (namespace: string, noting: Noting): WatchedKind<ConfigSet> => ({
  type: configSetType,
  where: { namespace },
  trim: noting(withTimes),
});

export const watchedApiTokens = (namespace: string): WatchedKind<ApiToken> => ({
  type: apiTokenType,
  where: { namespace },
  indexes: { [BY_UID]: uidOf, [BY_OWNER]: ({ spec }) => [spec.owner.subject] },
});

export const watchedWebhookDeliveries = (namespace: string): WatchedKind<WebhookDelivery> => ({
  type: webhookDeliveryType,
  where: { namespace },
  withoutManagedFields: true,
  isInterned: true,
  indexes: {
    [BY_PULL_REQUEST]: pullRequestsOf,
    [BY_DEDUPLICATION_KEY]: ({ spec }) => [spec.deduplicationKey ?? []].flat(),
    [BY_COMMIT]: (delivery) => [reportedCommit(delivery) ?? []].flat(),
    [BY_WAITING]: (delivery) => (isPending(delivery) ? [WAITING] : []),
    [BY_WAITING_KEY]: (delivery) => (isWaiting(delivery) ? [waitingKeyOf(delivery) ?? []].flat() : []),
    [BY_UNDECIDED]: (delivery) => (isUndecided(delivery) ? [ALL, ...(delivery.spec.repositories ?? [])] : []),
  },
});

export const watchedRecords = (namespace: string): WatchedKind<EnvironmentRecord> => ({
  type: recordType,
  where: { namespace },
  trim: withoutHistory,
  withoutManagedFields: true,
  isInterned: true,
  indexes: { [BY_PULL_REQUEST]: ({ metadata }) => [metadata.labels?.[TRIGGER_LABEL] ?? []].flat() },
});

export const watchedNotifications = (namespace: string): WatchedKind<Notification> => ({
  type: notificationType,
  where: { namespace },
  indexes: { [BY_DESTINATION]: (one) => (isUnsent(one) ? [destinationOf(one)] : []) },
});

export const watchedRollups = (namespace: string): WatchedKind<WireObject> => ({
  type: configMapKind,
  where: { namespace, labelSelector: ROLLUP_LABEL },
  withoutManagedFields: true,
});

/** ControllerRevisions with versions of config sets. */
export const watchedRevisions = (namespace: string): WatchedKind<WireObject> => ({
  type: revisionKind,
  where: { namespace, labelSelector: CONFIG_SET_UID_LABEL },
});

/** Isolation objects, compared with their desired state: only a Namespace reports a status that matters. */
export const watchedIsolation: readonly WatchedKind<WireObject>[] = [
  ownedKind(namespaceKind, withoutHistory),
  ownedKind(resourceQuotaKind, withUse),
  ...[limitRangeKind, networkPolicyKind, roleBindingKind, serviceAccountKind].map((type) => ownedKind(type)),
];

/** A kind of environments' objects, without their status by default. */
export function ownedKind(
  type: ResourceType<WireObject>,
  trim = withoutStatus,
  where: WatchedKind<WireObject>["where"] = {},
): WatchedKind<WireObject> {
  const selected = { ...where, labelSelector: ENVIRONMENT_UID_LABEL };
  return { type, trim, where: selected, withoutManagedFields: true, isInterned: true };
}

/** Keeps the times of managedFields: the only source of a config set's last change. */
function withTimes({ metadata, ...configSet }: ConfigSet): ConfigSet {
  const managedFields = (metadata.managedFields ?? []).map(({ time }) => (time === undefined ? {} : { time }));
  return { ...configSet, metadata: { ...metadata, managedFields } };
}

/** Keeps the quota's used resources for costs. */
function withUse(object: WireObject): WireObject {
  const { used } = (object.status ?? {}) as { readonly used?: Readonly<Record<string, string>> };
  const kept = Object.entries(used ?? {}).filter(([resource]) => COUNTED_RESOURCES.includes(resource));
  const quota = withoutStatus(object);
  return kept.length === 0 ? quota : { ...quota, status: { used: Object.fromEntries(kept) } };
}

function withoutStatus(object: WireObject): WireObject {
  const whole = withoutHistory(object);
  if (whole.status === undefined) return whole;
  const { status: _, ...kept } = whole;
  return kept;
}

import {
  watchedApiTokens,
  watchedConfigSets,
  watchedEnvironments,
  watchedIsolation,
  watchedNotifications,
  watchedRecords,
  watchedRepositories,
  watchedRevisions,
  watchedRollups,
  watchedWebhookDeliveries,
} from "../adapters/kubernetes/kinds.ts";
import { fieldManagers } from "../audit/field-managers.ts";
import type { CacheSet } from "../kit/cache/cache-set.ts";
import type { WatchedKind } from "../kit/cache/watched-kind.ts";
import type { WireObject } from "../kit/client/kinds.ts";
import type { Caches } from "../ports/caches.ts";

/**
 * Adds the watched kinds to the set: the platform's own, and environments' children.
 *
 * @param namespace of the platform's namespaced kinds
 * @param deployerKinds the deployer's kinds for environments
 */
export function watchKinds(
  set: CacheSet,
  namespace: string,
  deployerKinds: readonly WatchedKind<WireObject>[],
): Caches {
  const writers = fieldManagers();
  const children = [...watchedIsolation, ...deployerKinds];
  return {
    environments: set.watch(watchedEnvironments(writers.noting)),
    repositories: set.watch(watchedRepositories(namespace, writers.noting)),
    configSets: set.watch(watchedConfigSets(namespace, writers.noting)),
    apiTokens: set.watch(watchedApiTokens(namespace)),
    webhookDeliveries: set.watch(watchedWebhookDeliveries(namespace)),
    records: set.watch(watchedRecords(namespace)),
    notifications: set.watch(watchedNotifications(namespace)),
    rollups: set.watch(watchedRollups(namespace)),
    revisions: set.watch(watchedRevisions(namespace)),
    children: new Map(children.map((kind) => [kind.type.plural, set.watch(kind)])),
    writersOf: writers.of,
  };
}

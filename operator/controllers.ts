import { oldestFirst } from "./environment/expiration/limiter.ts";
import { createReconciler, type ReconcilerContext } from "./environment/reconciler.ts";
import { enqueueOnChanges } from "./environment/watches.ts";
import { deleteExpiredTokens, type ExpiredTokensContext } from "./garbage-collection/expired-tokens.ts";
import { type CollectorContext, garbageCollection } from "./garbage-collection/garbage-collector.ts";
import {
  createOrphanedValues,
  type OrphanedValuesContext,
  removeOnDeletion,
} from "./garbage-collection/orphaned-token-values.ts";
import { createSweep, type SweepContext } from "./garbage-collection/orphans.ts";
import {
  type DisuseContext,
  discardWhenUnused,
  enqueueOnDisuse,
} from "./garbage-collection/unused-config-set-versions.ts";
import type { KubeObject } from "./kit/client/objects.ts";
import type { OwnDeletions } from "./kit/client/own-deletions.ts";
import type { Controller } from "./kit/controller/controller.ts";
import { type DeliveryContext, deliverMessages } from "./notification/delivery.ts";
import { type RetentionContext, removeFinishedMessages } from "./notification/retention.ts";
import { createSender, type SenderContext } from "./notification/sender.ts";
import { enqueueOnMessages, waitingDestinations } from "./notification/watches.ts";
import type { Caches } from "./ports/caches.ts";
import { createRepositoryReconciler, type RepositoryContext } from "./repository/reconciler.ts";
import { enqueueOnRepositories } from "./repository/watches.ts";

/** All that the controllers use of the world. */
export type ControllerContext = ReconcilerContext &
  RepositoryContext &
  DisuseContext &
  CollectorContext &
  SweepContext &
  OrphanedValuesContext &
  ExpiredTokensContext &
  RetentionContext &
  SenderContext &
  Omit<DeliveryContext, "send"> & {
    readonly caches: Caches;
    readonly deletions: OwnDeletions;
  };

/** The controllers of the operator, in the order in which they start. */
export function controllers(context: ControllerContext): readonly Controller[] {
  return [
    environments(context),
    repositories(context),
    configSetVersions(context),
    notifications(context),
    garbage(context),
  ];
}

function environments(context: ControllerContext): Controller {
  const { caches, settings } = context;
  return {
    name: "environments",
    reconcile: createReconciler(context),
    watches: [(enqueue) => enqueueOnChanges(caches, enqueue)],
    initialKeys: () => namesOf(oldestFirst(caches.environments.list())),
    workers: settings.reconcile.workers,
  };
}

function repositories(context: ControllerContext): Controller {
  const { caches } = context;
  return {
    name: "repositories",
    reconcile: createRepositoryReconciler(context),
    watches: [(enqueue) => enqueueOnRepositories(caches, enqueue)],
    initialKeys: () => namesOf(caches.repositories.list()),
    workers: 8,
  };
}

/** The versions of config sets that environments use. */
function configSetVersions(context: ControllerContext): Controller {
  const { caches } = context;
  return {
    name: "config set versions",
    reconcile: discardWhenUnused(context),
    watches: [(enqueue) => enqueueOnDisuse(caches, enqueue)],
    initialKeys: () => namesOf(caches.revisions.list()),
    workers: 1,
  };
}

/** The messages, by destination: those of one are sent one after the other. */
function notifications(context: ControllerContext): Controller {
  const { caches } = context;
  return {
    name: "notifications",
    reconcile: deliverMessages({ ...context, send: createSender(context) }),
    watches: [(enqueue) => enqueueOnMessages(caches, enqueue)],
    initialKeys: () => waitingDestinations(caches),
    workers: 8,
  };
}

function garbage(context: ControllerContext): Controller {
  const { caches, deletions } = context;
  const tokenValues = createOrphanedValues(context);
  const collections = {
    orphans: createSweep(context),
    tokens: deleteExpiredTokens(context),
    tokenValues: tokenValues.sweep,
    notifications: removeFinishedMessages(context),
  };
  return garbageCollection(context, collections, [
    (enqueue) =>
      removeOnDeletion(caches.apiTokens, deletions, (deleted) => {
        tokenValues.deleted(deleted);
        enqueue("token values");
      }),
  ]);
}

const namesOf = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.name);

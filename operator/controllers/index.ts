import { digestOf } from "../../crds/digest.ts";
import { unobservedTraceparent } from "../../crds/environment/ephemeral-environment.ts";
import { isMadeByEvent } from "../../crds/environment/managed-by.ts";
import { undecidedTraceparent } from "../../crds/webhooks/webhook-delivery.ts";
import type { ControllerPorts } from "../controller-ports.ts";
import { conclude } from "../host-reports/conclude.ts";
import type { KubeObject } from "../kit/client/objects.ts";
import type { Controller } from "../kit/controller/controller.ts";
import { type DailySummariesContext, summarizeDays } from "../rollups/daily-summaries.ts";
import { canary } from "./canary/reconcile.ts";
import { discardWhenUnused, enqueueOnDisuse } from "./config-set-versions/reconcile.ts";
import { type AllocationContext, costAllocation } from "./cost-allocation/reconcile.ts";
import { oldestFirst } from "./environment/expiration/limiter.ts";
import { createReconciler, type ReconcilerContext } from "./environment/reconcile.ts";
import { enqueueOnChanges } from "./environment/watches.ts";
import { deleteExpiredTokens } from "./garbage-collection/expired-tokens.ts";
import { dropOldDeliveries } from "./garbage-collection/old-deliveries.ts";
import { removeFinishedMessages } from "./garbage-collection/old-notifications.ts";
import { type OldRollupsContext, shrinkOldRollups } from "./garbage-collection/old-rollups.ts";
import { createOrphanedValues, removeOnDeletion } from "./garbage-collection/orphaned-token-values.ts";
import { createSweep } from "./garbage-collection/orphans.ts";
import { type CollectorContext, garbageCollection } from "./garbage-collection/reconcile.ts";
import { createPullRequestSweep, type SweepContext as MissedContext } from "./missed-webhooks/reconcile.ts";
import { enqueueOnNewRepositories } from "./missed-webhooks/watches.ts";
import { deliverMessages, type DeliveryContext as MessageContext } from "./notification/reconcile.ts";
import { createSender, type SenderContext } from "./notification/sender.ts";
import { enqueueOnMessages, waitingDestinations } from "./notification/watches.ts";
import { createFeedbackReconciler, type FeedbackContext } from "./pull-request-feedback/reconcile.ts";
import { enqueueOnReports } from "./pull-request-feedback/watches.ts";
import { createRecheck, enqueueOnPullRequests, newPullRequestEnvironments } from "./pull-request-recheck/reconcile.ts";
import { createRepositoryReconciler } from "./repository/reconcile.ts";
import { enqueueOnRepositories } from "./repository/watches.ts";
import { createDeliveryReconciler, type DeliveryContext } from "./webhook-delivery/reconcile.ts";
import { enqueueOnDeliveries } from "./webhook-delivery/watches.ts";
import { createHookReconciler, type HookContext } from "./webhook-registration/reconcile.ts";
import { enqueueOnChecks } from "./webhook-registration/watches.ts";

/** All that the controllers use of the world. */
export type ControllerContext = ControllerPorts &
  Omit<ReconcilerContext, "tellGone"> &
  DeliveryContext &
  MissedContext &
  SenderContext &
  Omit<MessageContext, "send"> &
  FeedbackContext &
  CollectorContext &
  OldRollupsContext &
  DailySummariesContext &
  AllocationContext &
  HookContext;

/** Hosts count calls that they refuse, too. */
const FEEDBACK_BACKOFF_MS = { first: 2_000, longest: 300_000 };
const SWEEP_BACKOFF_MS = { first: 5_000, longest: 900_000 };
/** Writes to GitHub are a second apart. */
const LONGEST_SWEEP_MS = 600_000;

/** The controllers of the operator, in the order in which they start. */
export function controllers(context: ControllerContext): readonly Controller[] {
  const { caches, settings, webhookDeliveries } = context;
  return [
    {
      name: "environments",
      reconcile: createReconciler({
        ...context,
        tellGone: (environment, signal) => conclude(environment, context, signal),
      }),
      causeOf: (name) => {
        const environment = caches.environments.get(name);
        return environment && unobservedTraceparent(environment);
      },
      watches: [(enqueue) => enqueueOnChanges(caches, enqueue)],
      initialKeys: () => namesOf(oldestFirst(caches.environments.list())),
      workers: settings.reconcile.workers,
    },
    {
      name: "repositories",
      reconcile: createRepositoryReconciler(context),
      watches: [(enqueue) => enqueueOnRepositories(caches, enqueue)],
      initialKeys: () => namesOf(caches.repositories.list()),
      workers: 8,
    },
    {
      name: "deliveries",
      reconcile: createDeliveryReconciler(context),
      causeOf: (name) => {
        const delivery = webhookDeliveries.find(name);
        return delivery && undecidedTraceparent(delivery);
      },
      watches: [(enqueue) => enqueueOnDeliveries(caches, enqueue)],
      initialKeys: () => namesOf(webhookDeliveries.pending()),
      workers: 8,
    },
    {
      name: "pull requests",
      reconcile: createRecheck(context),
      watches: [(enqueue) => enqueueOnPullRequests(caches, enqueue)],
      initialKeys: () => newPullRequestEnvironments(caches, context.clock),
      workers: 2,
    },
    {
      name: "missed webhooks",
      reconcile: createPullRequestSweep(context),
      watches: [(enqueue) => enqueueOnNewRepositories(caches, enqueue)],
      initialKeys: () => namesOf(caches.repositories.list()),
      workers: 2,
      deadlineMs: LONGEST_SWEEP_MS,
      backoffMs: SWEEP_BACKOFF_MS,
    },
    {
      name: "feedback",
      reconcile: createFeedbackReconciler(context),
      watches: [(enqueue) => enqueueOnReports(caches, enqueue)],
      initialKeys: () => namesOf(caches.environments.list().filter(isMadeByEvent)),
      workers: 4,
      backoffMs: FEEDBACK_BACKOFF_MS,
    },
    {
      name: "hooks",
      reconcile: createHookReconciler(context),
      watches: [(enqueue) => enqueueOnChecks(caches, enqueue)],
      initialKeys: () => namesOf(caches.repositories.list().filter(({ spec }) => spec.host !== undefined)),
      workers: 2,
    },
    {
      name: "config set versions",
      reconcile: discardWhenUnused(context),
      watches: [(enqueue) => enqueueOnDisuse(caches, enqueue)],
      initialKeys: () => namesOf(caches.revisions.list()),
      workers: 1,
    },
    {
      // By destination: the messages of one are sent one after the other.
      name: "notifications",
      reconcile: deliverMessages({ ...context, send: createSender(context) }),
      // An address is a person's.
      loggedKey: (destination) => digestOf(destination),
      watches: [(enqueue) => enqueueOnMessages(caches, enqueue)],
      initialKeys: () => waitingDestinations(caches),
      workers: 8,
    },
    canary(context),
    costAllocation(context),
    garbage(context),
  ];
}

function garbage(context: ControllerContext): Controller {
  const { caches, deletions } = context;
  const tokenValues = createOrphanedValues(context);
  const collections = {
    orphans: createSweep(context),
    tokens: deleteExpiredTokens(context),
    tokenValues: tokenValues.sweep,
    deliveries: dropOldDeliveries(context),
    notifications: removeFinishedMessages(context),
    rollups: shrinkOldRollups(context),
    summaries: summarizeDays(context),
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

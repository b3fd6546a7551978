import { ClusterUnavailable } from "../../../crds/errors.ts";
import {
  isPending,
  isWaiting,
  type WebhookDelivery,
  type WebhookDeliveryStatus,
} from "../../../crds/webhooks/webhook-delivery.ts";
import type { Reconcile, ReconcileResult } from "../../kit/controller/controller.ts";
import { equalJson } from "../../kit/equal-json.ts";
import { createKeyedMutex } from "../../kit/keyed-mutex.ts";
import type { Log } from "../../kit/log.ts";
import { type Clock, elapsedMs } from "../../kit/time/clock.ts";
import type { CommitStatusReporter } from "../../ports/webhooks/pull-request-host.ts";
import type { WebhookDeliveries } from "../../ports/webhooks/webhook-deliveries.ts";
import { HOST_UNTOLD } from "../../webhooks/merge-group.ts";
import { type ProcessingContext, processDelivery, REFUSED, withTrace } from "../../webhooks/process.ts";
import { type RefetchContext, refetch } from "../../webhooks/pull-request/states.ts";
import { dated, serialKey } from "../../webhooks/stored.ts";
import { endedWait, superseded, unavailable } from "../../webhooks/waiting.ts";

/** The ports of the reconcile of webhook deliveries. */
export interface WebhookDeliveryDependencies extends ProcessingContext, RefetchContext {
  readonly log: Log;
  readonly clock: Clock;
  readonly webhookDeliveries: WebhookDeliveries;
  readonly pullRequestHost: CommitStatusReporter;
}

/** The accepting replica needs milliseconds; by then it has crashed, or could not act. */
const TAKEN_OVER_AFTER_MS = 30_000;
/** Fallback for the watch event that ends the wait. */
const WAITING_RECHECK_MS = 15_000;
const LONGEST_RECHECK_MS = 300_000;
/** A delivery with a permanent failure or refusal must not be retried for ever. */
const MOST_ATTEMPTS = 10;

/**
 * Processes pending deliveries: the API's leftovers and the operator's own at once, others after the accepting
 * replica's time. Decides again, because a decision may have been carried out before.
 * Retries what failed, such as the commit status of a merge group.
 */
export function createDeliveryReconciler(context: WebhookDeliveryDependencies): Reconcile {
  const { webhookDeliveries, clock } = context;
  const mutex = createKeyedMutex();
  return async (name, { signal }) => {
    const received = webhookDeliveries.find(name);
    if (received === undefined || !isPending(received)) return;
    const leftMs = TAKEN_OVER_AFTER_MS - elapsedMs(new Date(received.spec.receivedAt), clock.now());
    const isOfApi = received.status === undefined && received.spec.source !== "refetch";
    if (isOfApi && leftMs > 0) return { requeueAfterMs: leftMs };
    return mutex.run(serialKey(received), async () => {
      const delivery = webhookDeliveries.find(name);
      if (delivery === undefined || !isPending(delivery)) return {};
      const status = isWaiting(delivery) ? superseded(delivery, context) : undefined;
      return finish(delivery, status === undefined ? await attempt(delivery, context, signal) : { status }, context);
    });
  };
}

/** Outcome of an attempt, and the error of an unavailable dependency: its key backs off. */
interface Attempt {
  readonly status: WebhookDeliveryStatus;
  readonly error?: unknown;
}

/** Tries once. A refusal that may pass, and an error that is not that of a dependency, are counted; the last one is final. */
async function attempt(
  delivery: WebhookDelivery,
  context: WebhookDeliveryDependencies,
  signal: AbortSignal,
): Promise<Attempt> {
  try {
    const verdicts = await refetch(delivery, context, signal);
    const status = withTrace(verdicts, await processDelivery(delivery, context, { atOnce: "all", signal }));
    return { status: status.phase === "pending" && status.reason === REFUSED ? counted(status, delivery) : status };
  } catch (error) {
    if (error instanceof ClusterUnavailable || signal.aborted) throw error;
    const waiting = unavailable(error, delivery, context.clock);
    if (waiting !== undefined) return { status: waiting, error };
    context.log.error("a delivery could not be processed", { delivery: delivery.metadata.name, error });
    return { status: counted({ reason: "Fault", message: "a fault of the service: its log says more" }, delivery) };
  }
}

function counted(
  status: Omit<WebhookDeliveryStatus, "phase" | "attempts">,
  { status: former }: WebhookDelivery,
): WebhookDeliveryStatus {
  const attempts = (former?.attempts ?? 0) + 1;
  return { ...status, phase: attempts >= MOST_ATTEMPTS ? "failed" : "pending", attempts };
}

async function finish(
  delivery: WebhookDelivery,
  { status, error }: Attempt,
  context: WebhookDeliveryDependencies,
): Promise<ReconcileResult> {
  const { webhookDeliveries, clock } = context;
  const replaced = status.waitsSince === undefined ? undefined : superseded(delivery, context);
  const outcome = replaced ?? endedWait(status, clock.now());
  const isLeft = outcome.phase === "pending";
  if (!isLeft || !equalJson(delivery.status, outcome)) {
    await webhookDeliveries.finish(delivery, dated(outcome, clock.now()));
  }
  if (isLeft && error !== undefined) throw error;
  return isLeft ? { requeueAfterMs: recheckMs(outcome, clock.now()) } : {};
}

/** A host that refuses or is away is called less often the longer that lasts: many deliveries may wait for it. */
function recheckMs({ reason, waitsSince }: WebhookDeliveryStatus, now: Date): number {
  if (reason !== HOST_UNTOLD || waitsSince === undefined) return WAITING_RECHECK_MS;
  const quarterMs = elapsedMs(new Date(waitsSince), now) / 4;
  return Math.min(Math.max(quarterMs, WAITING_RECHECK_MS), LONGEST_RECHECK_MS);
}

import { ClusterUnavailable } from "../../../crds/errors.ts";
import {
  isPending,
  isWaiting,
  type WebhookDelivery,
  type WebhookDeliveryStatus,
} from "../../../crds/webhooks/webhook-delivery.ts";
import type { Reconcile, ReconcileResult } from "../../kit/controller/controller.ts";
import { equalJson } from "../../kit/equal-json.ts";
import type { Log } from "../../kit/log.ts";
import { type Clock, elapsedMs } from "../../kit/time/clock.ts";
import type { WebhookDeliveries } from "../../ports/webhooks/webhook-deliveries.ts";
import { createLanes } from "../../webhooks/lanes.ts";
import { type InquiryContext, inquire } from "../../webhooks/pull-request/inquiry.ts";
import { REFUSED, type SettleContext, settle, withTrace } from "../../webhooks/settle.ts";
import { dated, laneOf } from "../../webhooks/stored.ts";
import { endedWait, superseded, unavailable } from "../../webhooks/waiting.ts";

export interface DeliveryContext extends SettleContext, Pick<InquiryContext, "pullRequestReader"> {
  readonly webhookDeliveries: WebhookDeliveries;
  readonly clock: Clock;
  readonly log: Log;
}

/** The replica that accepted it needs milliseconds; after this time it has crashed, or could not act. */
const TAKEN_OVER_AFTER_MS = 30_000;
/** An environment that is waited for ends in a watch event; this is for events that are lost. */
const WAITING_RECHECK_MS = 15_000;
/** A delivery that fails for reasons of its own, or is refused, must not be tried for ever. */
const MOST_ATTEMPTS = 10;

/**
 * Settles deliveries that are still pending: those that the facade left to the operator and those of its own at once, all
 * others when the replica that accepted them has had its time. Decided anew, so a decision may have been carried out before.
 */
export function createDeliveryReconciler(context: DeliveryContext): Reconcile {
  const { webhookDeliveries, clock } = context;
  const lanes = createLanes();
  return async (name, { signal }) => {
    const found = webhookDeliveries.find(name);
    if (found === undefined || !isPending(found)) return;
    const leftMs = TAKEN_OVER_AFTER_MS - elapsedMs(new Date(found.spec.receivedAt), clock.now());
    const isOfFacade = found.status === undefined && found.spec.door !== "inquiry";
    if (isOfFacade && leftMs > 0) return { requeueAfterMs: leftMs };
    return lanes.run(laneOf(found), async () => {
      const delivery = webhookDeliveries.find(name);
      if (delivery === undefined || !isPending(delivery)) return {};
      const replaced = isWaiting(delivery) ? superseded(delivery, context) : undefined;
      const tried = replaced === undefined ? await attempt(delivery, context, signal) : { status: replaced };
      return finish(delivery, tried, context);
    });
  };
}

/** The outcome of a try, and the error of a dependency that is away: its key backs off. */
interface Attempt {
  readonly status: WebhookDeliveryStatus;
  readonly error?: unknown;
}

/** Tries once. A refusal that may pass, and an error that is not that of a dependency, are counted; the last one is final. */
async function attempt(delivery: WebhookDelivery, context: DeliveryContext, signal: AbortSignal): Promise<Attempt> {
  try {
    const asked = await inquire(delivery, context, signal);
    const status = withTrace(asked, await settle(delivery, context, { atOnce: "all", signal }));
    return { status: status.phase === "pending" && status.reason === REFUSED ? counted(status, delivery) : status };
  } catch (error) {
    if (error instanceof ClusterUnavailable || signal.aborted) throw error;
    const waiting = unavailable(error, delivery, context.clock);
    if (waiting !== undefined) return { status: waiting, error };
    context.log.error("a delivery could not be settled", { delivery: delivery.metadata.name, error });
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
  context: DeliveryContext,
): Promise<ReconcileResult> {
  const { webhookDeliveries, clock } = context;
  const replaced = status.waitsSince === undefined ? undefined : superseded(delivery, context);
  const ended = replaced ?? endedWait(status, clock.now());
  const isLeft = ended.phase === "pending";
  if (!(isLeft && equalJson(delivery.status, ended))) {
    await webhookDeliveries.finish(delivery, dated(ended, clock.now()));
  }
  if (isLeft && error !== undefined) throw error;
  return isLeft ? { requeueAfterMs: WAITING_RECHECK_MS } : {};
}

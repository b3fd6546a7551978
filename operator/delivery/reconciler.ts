import { ClusterUnavailable, HostUnavailable, SecretsUnavailable } from "../../crds/errors.ts";
import { isPending, type WebhookDelivery, type WebhookDeliveryStatus } from "../../crds/webhooks/webhook-delivery.ts";
import type { Reconcile, ReconcileResult } from "../kit/controller/controller.ts";
import { equalJson } from "../kit/equal-json.ts";
import type { Log } from "../kit/log.ts";
import { type Clock, elapsedMs } from "../kit/time/clock.ts";
import type { WebhookDeliveries } from "../ports/webhooks/webhook-deliveries.ts";
import { createLanes } from "./lanes.ts";
import { type InquiryContext, inquire } from "./pull-request/inquiry.ts";
import { REFUSED, type SettleContext, settle, withTrace } from "./settle.ts";
import { dated, laneOf } from "./stored.ts";

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
      return finish(delivery, await settleOrCount(delivery, context, signal), context);
    });
  };
}

/** Its outcome. A refusal that may pass, and an error that is not that of a dependency, are counted; the last one is final. */
async function settleOrCount(
  delivery: WebhookDelivery,
  context: DeliveryContext,
  signal: AbortSignal,
): Promise<WebhookDeliveryStatus> {
  try {
    const asked = await inquire(delivery, context, signal);
    const status = withTrace(asked, await settle(delivery, context, { atOnce: "all", signal }));
    return status.phase === "pending" && status.reason === REFUSED ? counted(status, delivery) : status;
  } catch (error) {
    if (isPassing(error) || signal.aborted) throw error;
    context.log.error("a delivery could not be settled", { delivery: delivery.metadata.name, error });
    return counted({ reason: "Fault", message: "a fault of the service: its log says more" }, delivery);
  }
}

function counted(
  status: Omit<WebhookDeliveryStatus, "phase" | "attempts">,
  { status: former }: WebhookDelivery,
): WebhookDeliveryStatus {
  const attempts = (former?.attempts ?? 0) + 1;
  return { ...status, phase: attempts >= MOST_ATTEMPTS ? "failed" : "pending", attempts };
}

const isPassing = (error: unknown) =>
  error instanceof ClusterUnavailable || error instanceof SecretsUnavailable || error instanceof HostUnavailable;

async function finish(
  delivery: WebhookDelivery,
  status: WebhookDeliveryStatus,
  { webhookDeliveries, clock }: DeliveryContext,
): Promise<ReconcileResult> {
  const isWaiting = status.phase === "pending";
  if (!(isWaiting && equalJson(delivery.status, status))) {
    await webhookDeliveries.finish(delivery, dated(status, clock.now()));
  }
  return isWaiting ? { requeueAfterMs: WAITING_RECHECK_MS } : {};
}

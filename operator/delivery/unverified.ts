import { createHash } from "node:crypto";
import { deliveryName, type WebhookDeliverySpec } from "../../crds/webhooks/webhook-delivery.ts";
import type { Log } from "../kit/log.ts";
import type { Clock } from "../kit/time/clock.ts";
import { hourly } from "../kit/time/hourly.ts";
import type { UnverifiedMessages } from "../notification/unverified-message.ts";
import type { UnverifiedEvent, WebhookInbox } from "../ports/facade/webhook-inbox.ts";
import type { WebhookDeliveries } from "../ports/webhooks/webhook-deliveries.ts";

interface Context {
  readonly deliveries: Pick<WebhookDeliveries, "claim" | "finish">;
  readonly clock: Clock;
  readonly log: Log;
  readonly unverifiedMessages: UnverifiedMessages;
}

/** All endpoints without authentication together, so that a flood of events costs the API server next to nothing. */
const STORED_PER_SECOND = 5;
const SECOND_MS = 1_000;
const EVENT_NAME_MAX_LENGTH = 64;
const MESSAGE_MAX_LENGTH = 500;

/** Stores unverified events for people: a few a second, finished from the start, and told to the channel for them. */
export function unverifiedEvents({ deliveries, clock, log, unverifiedMessages }: Context): WebhookInbox["note"] {
  const isAdmitted = perSecond(STORED_PER_SECOND, clock);
  const report = hourly(clock);
  let dropped = 0;
  return async (event) => {
    const { channels } = unverifiedMessages;
    if (!isAdmitted()) {
      dropped += 1;
      if (report.isDue()) log.warn("unverified events are answered and not stored: there are too many", { dropped });
      return channels;
    }
    try {
      await store(event);
    } catch (error) {
      log.warn("an unverified event could not be stored", { error });
    }
    return channels;
  };

  async function store(event: UnverifiedEvent): Promise<void> {
    const spec = specOf(event, clock.now());
    const claim = await deliveries.claim(deliveryName(spec), spec);
    if (claim.state === "taken") return;
    const message = "it came without authentication: it is shown, and nothing is done about it";
    const finishedAt = clock.now().toISOString();
    await deliveries.finish(claim.delivery, { phase: "ignored", reason: "Unverified", message, finishedAt });
    await unverifiedMessages.tell(event);
  }
}

function specOf({ door, id, eventName, message, bytes }: UnverifiedEvent, now: Date): WebhookDeliverySpec {
  return {
    door,
    deliveryId: id,
    eventName: eventName.slice(0, EVENT_NAME_MAX_LENGTH),
    digest: createHash("sha256").update(bytes).digest("hex"),
    verified: false,
    receivedAt: now.toISOString(),
    event: { type: "other" },
    ...(message === "" ? {} : { message: message.slice(0, MESSAGE_MAX_LENGTH) }),
  };
}

/** Answers yes so many times in any second that begins with a yes. */
function perSecond(most: number, clock: Pick<Clock, "monotonicMs">): () => boolean {
  let beganMs = Number.NEGATIVE_INFINITY;
  let admitted = 0;
  return () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - beganMs >= SECOND_MS) [beganMs, admitted] = [nowMs, 0];
    admitted += 1;
    return admitted <= most;
  };
}

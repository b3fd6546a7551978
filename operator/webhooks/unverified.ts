import { hash } from "node:crypto";
import { deliveryName, type WebhookDeliverySpec } from "../../crds/webhooks/webhook-delivery.ts";
import type { UnverifiedMessages } from "../announcements/unverified-message.ts";
import type { Log } from "../kit/log.ts";
import type { Clock } from "../kit/time/clock.ts";
import { reportLimit, tokenBucket } from "../kit/time/rate-limits.ts";
import { InboxFull, type UnverifiedEvent, type WebhookInbox, WebhookTooLarge } from "../ports/api/webhook-inbox.ts";
import type { WebhookDeliveries } from "../ports/webhooks/webhook-deliveries.ts";
import type { ReceivedWebhook } from "../ports/webhooks/webhook-format.ts";
import type { WebhookFormats } from "./senders.ts";

interface UnverifiedEventDependencies {
  readonly deliveries: WebhookDeliveries;
  readonly clock: Clock;
  readonly log: Log;
  readonly unverifiedMessages: UnverifiedMessages;
  readonly formats: WebhookFormats;
}

/** Limit of all unauthenticated endpoints together, so that a flood costs the API server next to nothing. */
const STORED_PER_SECOND = 5;
const EVENT_NAME_MAX_LENGTH = 64;
const MESSAGE_MAX_LENGTH = 500;

interface UnverifiedRecords {
  /** Stores an event for people, and notifies their channel; see the WebhookInbox port. */
  readonly note: WebhookInbox["note"];
  /** Stores a webhook refused for its size; ignores other errors. Never throws. */
  noteRefused(webhook: ReceivedWebhook, error: unknown): Promise<void>;
}

/** Stores unverified events and webhooks refused unread, for people: a few a second, already finished. */
export function unverifiedEvents({
  deliveries,
  clock,
  log,
  unverifiedMessages,
  formats,
}: UnverifiedEventDependencies): UnverifiedRecords {
  const admission = tokenBucket(clock, STORED_PER_SECOND, 1);
  const report = reportLimit(clock);
  let dropped = 0;

  async function store(spec: WebhookDeliverySpec, outcome: { reason: string; message: string }): Promise<boolean> {
    if (!admission.take()) {
      dropped += 1;
      if (report.isDue()) log.warn("unverified events are answered and not stored: there are too many", { dropped });
      return false;
    }
    try {
      const claim = await deliveries.claim(deliveryName(spec), spec);
      if (claim.state === "taken") return false;
      const finishedAt = clock.now().toISOString();
      await deliveries.finish(claim.delivery, { phase: "ignored", ...outcome, finishedAt });
      return true;
    } catch (error) {
      log.warn("an unverified event could not be stored", { error });
      return false;
    }
  }

  return {
    async note(event) {
      const isStored = await store(specOf(event, clock.now()), UNVERIFIED);
      if (isStored) {
        await unverifiedMessages
          .report(event)
          .catch((error: unknown) => log.warn("an unverified event could not be announced", { error }));
      }
      return unverifiedMessages.channels;
    },
    async noteRefused(webhook, error) {
      if (!(error instanceof WebhookTooLarge || error instanceof InboxFull)) return;
      const reason = error instanceof InboxFull ? "NoRoom" : "TooLarge";
      await store(refusedSpec(webhook, formats, clock.now()), { reason, message: error.message });
    },
  };
}

const UNVERIFIED = {
  reason: "Unverified",
  message: "it came without authentication: it is shown, and nothing is done about it",
};

/** The body was not read to its end, so the digest is of no bytes. The headers are unverified. */
function refusedSpec({ source, ...webhook }: ReceivedWebhook, formats: WebhookFormats, now: Date): WebhookDeliverySpec {
  const read = Object.values(formats).map(({ format }) => format.delivery({ source, ...webhook }));
  const { eventName = "", deliveryId } = read.find((one) => one.deliveryId !== undefined) ?? {};
  return unverifiedSpec({ source, eventName, ...(deliveryId !== undefined && { deliveryId }) }, "", now);
}

function specOf({ source, id, eventName, message, bytes }: UnverifiedEvent, now: Date): WebhookDeliverySpec {
  const shown = message === "" ? {} : { message: message.slice(0, MESSAGE_MAX_LENGTH) };
  const named = { source, deliveryId: id, eventName: eventName.slice(0, EVENT_NAME_MAX_LENGTH), ...shown };
  return unverifiedSpec(named, bytes, now);
}

function unverifiedSpec(
  given: Pick<WebhookDeliverySpec, "source" | "eventName" | "deliveryId" | "message">,
  bytes: string | Uint8Array,
  now: Date,
): WebhookDeliverySpec {
  const digest = hash("sha256", bytes, "hex");
  return { ...given, digest, verified: false, receivedAt: now.toISOString(), event: { type: "other" } };
}

import { DELIVERY_ID_MAX_LENGTH } from "../../../crds/webhooks/webhook-delivery.schema.ts";
import type { ReceivedWebhook } from "../../ports/webhooks/webhook-format.ts";

const EVENT_NAME_MAX_LENGTH = 64;

/** Value of a header; `undefined` when missing or empty. @param name in lower case */
export function headerOf({ headers }: Pick<ReceivedWebhook, "headers">, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** See `DeliveryHeaders.eventName`. */
export const eventNameOf = (name: string | undefined): string => (name ?? "").slice(0, EVENT_NAME_MAX_LENGTH);

/** See `DeliveryHeaders.deliveryId`. No host has longer ids, and a cut could make two ids equal. */
export const deliveryIdOf = (id: string | undefined): string | undefined =>
  id !== undefined && id.length <= DELIVERY_ID_MAX_LENGTH ? id : undefined;

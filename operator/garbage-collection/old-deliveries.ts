import type { Settings } from "../../config/settings.ts";
import { isPending, type WebhookDelivery } from "../../crds/webhooks/webhook-delivery.ts";
import type { Clock } from "../kit/time/clock.ts";
import { eachOf } from "../kit/time/each-of.ts";
import type { ServerClock } from "../ports/clock.ts";
import type { WebhookDeliveries } from "../ports/webhooks/webhook-deliveries.ts";
import { earlierOfClocks } from "./earlier-of-clocks.ts";

export interface OldDeliveriesContext {
  readonly settings: Pick<Settings, "webhooks">;
  readonly webhookDeliveries: Pick<WebhookDeliveries, "list" | "remove">;
  readonly clock: Clock;
  readonly serverClock: ServerClock;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The most that one pass drops, so that none takes minutes. */
const MOST_DROPPED = 2_000;
const AT_ONCE = 8;

/** How many are kept, and how long. */
interface Bounds {
  readonly atMost: number;
  readonly forMs: number;
}

/**
 * Drops finished deliveries that exceed the bounds of the settings, oldest first; never one that is pending.
 *
 * @returns whether some are left for the next pass
 */
export function dropOldDeliveries(context: OldDeliveriesContext): (signal: AbortSignal) => Promise<boolean> {
  const { verified, verifiedDays, unverified, unverifiedHours } = context.settings.webhooks.retention;
  return async (signal) => {
    const finished = context.webhookDeliveries.list().filter((delivery) => !isPending(delivery));
    if (finished.length === 0) return false;
    const now = await earlierOfClocks(context);
    const byProof = Object.groupBy(finished, ({ spec }) => (spec.verified ? "verified" : "unverified"));
    const surplus = [
      ...beyond(byProof.verified, { atMost: verified, forMs: verifiedDays * DAY_MS }, now),
      ...beyond(byProof.unverified, { atMost: unverified, forMs: unverifiedHours * HOUR_MS }, now),
    ];
    await eachOf(AT_ONCE, surplus.slice(0, MOST_DROPPED), (delivery) => {
      signal.throwIfAborted();
      return context.webhookDeliveries.remove(delivery);
    });
    return surplus.length > MOST_DROPPED;
  };
}

/** What exceeds the bounds, oldest first. */
function beyond(deliveries: readonly WebhookDelivery[] = [], { atMost, forMs }: Bounds, now: Date): WebhookDelivery[] {
  const aged = deliveries.map((delivery) => ({ delivery, atMs: Date.parse(delivery.metadata.creationTimestamp) }));
  const oldestFirst = aged.sort((one, other) => one.atMs - other.atMs);
  const tooMany = oldestFirst.length - atMost;
  const surplus = oldestFirst.filter(({ atMs }, index) => index < tooMany || now.getTime() - atMs >= forMs);
  return surplus.map(({ delivery }) => delivery);
}

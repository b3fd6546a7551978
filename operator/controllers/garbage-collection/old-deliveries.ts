import type { Settings } from "../../../config/settings.ts";
import { isPending, type WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import { fairShare, type KeptBounds, surplusOf } from "../../kit/surplus.ts";
import { eachOf } from "../../kit/time/each-of.ts";
import type { Clock, ServerClock } from "../../ports/clock.ts";
import type { WebhookDeliveries } from "../../ports/webhooks/webhook-deliveries.ts";
import { earlierOfClocks } from "./earlier-of-clocks.ts";

/** The settings and ports of the collection of webhook deliveries. */
export interface OldDeliveriesDependencies {
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  readonly settings: Pick<Settings, "webhooks">;
  readonly webhookDeliveries: Pick<WebhookDeliveries, "list" | "remove">;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Limit of one reconcile, so that none takes minutes. */
const MOST_DROPPED = 2_000;
const AT_ONCE = 8;

/**
 * Drops finished deliveries beyond the settings' bounds, oldest first, and verified ones of the Repositories with the
 * most; never a pending one.
 *
 * @returns true when some are left
 */
export function dropOldDeliveries(context: OldDeliveriesDependencies): (signal: AbortSignal) => Promise<boolean> {
  const { verified, verifiedDays, unverified, unverifiedHours } = context.settings.webhooks.retention;
  return async (signal) => {
    const finished = context.webhookDeliveries.list().filter((delivery) => !isPending(delivery));
    if (finished.length === 0) return false;
    const now = await earlierOfClocks(context);
    // Includes those of exactly this age.
    const ago = (ms: number) => new Date(now.getTime() - ms + 1);
    const byProof = Object.groupBy(finished, ({ spec }) => (spec.verified ? "verified" : "unverified"));
    const bounds = {
      verified: { atMost: verified, notBefore: ago(verifiedDays * DAY_MS) },
      unverified: { atMost: unverified, notBefore: ago(unverifiedHours * HOUR_MS) },
    };
    const surplus = [
      ...surplusOfEach(byProof.verified ?? [], bounds.verified),
      ...surplusOf(byProof.unverified ?? [], madeAtMs, bounds.unverified),
    ];
    await eachOf(AT_ONCE, surplus.slice(0, MOST_DROPPED), (delivery) => {
      signal.throwIfAborted();
      return context.webhookDeliveries.remove(delivery);
    });
    return surplus.length > MOST_DROPPED;
  };
}

/** Excess by Repository: the events of one displace none of another with fewer. */
function surplusOfEach(deliveries: readonly WebhookDelivery[], bounds: KeptBounds): readonly WebhookDelivery[] {
  const each = [...Map.groupBy(deliveries, ({ spec }) => spec.repositories?.[0]).values()];
  const atMost = fairShare(
    each.map(({ length }) => length),
    bounds.atMost,
  );
  return each.flatMap((ones) => surplusOf(ones, madeAtMs, { ...bounds, atMost }));
}

const madeAtMs = ({ metadata }: WebhookDelivery) => Date.parse(metadata.creationTimestamp);

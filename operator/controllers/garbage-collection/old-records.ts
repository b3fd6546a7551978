import type { Settings } from "../../../config/settings.ts";
import { DAY_MS, HOUR_MS } from "../../../crds/durations.ts";
import { isPending as isWaiting } from "../../../crds/notifications/notification.ts";
import { isPending, type WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import { fairShare, type KeptBounds, surplusOf } from "../../kit/surplus.ts";
import { eachOf } from "../../kit/time/each-of.ts";
import type { Clock, ServerClock } from "../../ports/clock.ts";
import type { Notifications } from "../../ports/notifications/notifications.ts";
import type { RollupStore, StoredRollup } from "../../ports/observability/rollups.ts";
import type { WebhookDeliveries } from "../../ports/webhooks/webhook-deliveries.ts";
import { byTheHour, dayOf } from "../../rollups/recorder.ts";

/** The settings and ports of the collection of webhook deliveries. */
export interface OldDeliveriesDependencies {
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  readonly settings: Pick<Settings, "webhooks">;
  readonly webhookDeliveries: Pick<WebhookDeliveries, "list" | "remove">;
}

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

const madeAtMs = ({ metadata }: Pick<WebhookDelivery, "metadata">) => Date.parse(metadata.creationTimestamp);

const MOST_REMOVED = 500;

/** The settings and ports of the collection of notifications. */
interface OldNotificationsDependencies {
  readonly settings: Settings;
  readonly notifications: Pick<Notifications, "list" | "remove">;
  readonly clock: Clock;
}

/**
 * Deletes finished messages beyond number or age, oldest first; never a waiting one.
 *
 * @returns a function that answers true when some are left
 */
export function removeFinishedMessages({ settings, notifications, clock }: OldNotificationsDependencies) {
  return async (signal: AbortSignal): Promise<boolean> => {
    const { finished, hours } = settings.notifications.retention;
    const notBefore = new Date(clock.now().getTime() - hours * HOUR_MS);
    const done = notifications.list().filter((one) => !isWaiting(one));
    const surplus = surplusOf(done, madeAtMs, { atMost: finished, notBefore });
    for (const notification of surplus.slice(0, MOST_REMOVED)) {
      signal.throwIfAborted();
      await notifications.remove(notification);
    }
    return surplus.length > MOST_REMOVED;
  };
}

/** The ports of the collection of rollups. */
interface OldRollupsDependencies {
  readonly clock: Clock;
  readonly rollupStore: Pick<RollupStore, "list" | "replace" | "remove">;
}

/** Days with counts by five minutes; older ones by the hour. */
const FINE_DAYS = 3;
const KEPT_DAYS = 400;

/** Keeps old rollups small, and drops the oldest. */
export function shrinkOldRollups({
  clock,
  rollupStore,
}: OldRollupsDependencies): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    const daysAgo = (days: number) => dayOf(new Date(clock.now().getTime() - days * DAY_MS));
    for (const rollup of await rollupStore.list(signal)) {
      signal.throwIfAborted();
      if (rollup.day < daysAgo(KEPT_DAYS)) await rollupStore.remove(rollup);
      else if (rollup.day < daysAgo(FINE_DAYS) && !isByTheHour(rollup)) {
        // No process still counts for that day.
        await rollupStore.replace(rollup, { ...rollup, slots: byTheHour(rollup.slots), writers: {} });
      }
    }
  };
}

const isByTheHour = ({ slots, writers }: StoredRollup) =>
  Object.keys(slots).every((slot) => slot.endsWith(":00")) && Object.keys(writers).length === 0;

/** The earlier of both clocks, so that one wrong clock ends nothing. Rejects while the API server is unavailable. */
export async function earlierOfClocks(clocks: {
  readonly clock: Clock;
  readonly serverClock: ServerClock;
}): Promise<Date> {
  const [own, server] = [clocks.clock.now(), await clocks.serverClock.now()];
  return new Date(Math.min(own.getTime(), server.getTime()));
}

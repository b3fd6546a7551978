/** Drops what is old or too much: webhook deliveries, notifications, rollups, and records of environments. */
import { DAY_MS, HOUR_MS } from "../../../crds/durations.ts";
import { isUnsent } from "../../../crds/notifications/notification.ts";
import { byTheHour, dayOf } from "../../../crds/usage/rollup.ts";
import { isPending, type WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import { fairShare, type KeptBounds, surplusOf } from "../../kit/surplus.ts";
import { eachOf } from "../../kit/time/each-of.ts";
import type { StoredRollup } from "../../ports/rollups.ts";
import type { CollectionDependencies } from "./dependencies.ts";

/** Limits of one collection, so that none takes minutes. */
const MOST_DELIVERIES = { most: 2_000, atOnce: 8 };
const MOST_MESSAGES = { most: 500, atOnce: 1 };
/** Days with counts by five minutes; older ones by the hour. */
const FINE_DAYS = 3;
const KEPT_DAYS = 400;

/**
 * Drops finished deliveries beyond the settings' bounds, oldest first, and verified ones of the Repositories with the
 * most; never a pending one.
 *
 * @returns a function that answers true when some are left
 */
export function dropOldDeliveries(
  context: CollectionDependencies<"clock" | "serverClock" | "settings" | "webhookDeliveries">,
) {
  const { verified, verifiedDays, unverified, unverifiedHours } = context.settings.webhooks.retention;
  return async (signal: AbortSignal): Promise<boolean> => {
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
      ...surplusOf(byProof.unverified ?? [], createdAtMs, bounds.unverified),
    ];
    return removeSome(surplus, (one) => context.webhookDeliveries.remove(one), { ...MOST_DELIVERIES, signal });
  };
}

/** Excess by Repository: the events of one displace none of another with fewer. */
function surplusOfEach(deliveries: readonly WebhookDelivery[], bounds: KeptBounds): readonly WebhookDelivery[] {
  const each = [...Map.groupBy(deliveries, ({ spec }) => spec.repositories?.[0]).values()];
  const counts = each.map(({ length }) => length);
  const atMost = fairShare(counts, bounds.atMost);
  return each.flatMap((ones) => surplusOf(ones, createdAtMs, { ...bounds, atMost }));
}

/**
 * Deletes finished messages beyond number or age, oldest first; never a waiting one.
 *
 * @returns a function that answers true when some are left
 */
export function removeFinishedMessages({
  settings,
  notifications,
  clock,
}: CollectionDependencies<"settings" | "notifications" | "clock">) {
  return async (signal: AbortSignal): Promise<boolean> => {
    const { finished, hours } = settings.notifications.retention;
    const notBefore = new Date(clock.now().getTime() - hours * HOUR_MS);
    const done = notifications.list().filter((one) => !isUnsent(one));
    const surplus = surplusOf(done, createdAtMs, { atMost: finished, notBefore });
    return removeSome(surplus, (one) => notifications.remove(one), { ...MOST_MESSAGES, signal });
  };
}

const createdAtMs = ({ metadata }: Pick<WebhookDelivery, "metadata">) => Date.parse(metadata.creationTimestamp);

async function removeSome<T>(
  surplus: readonly T[],
  remove: (one: T) => Promise<void>,
  { most, atOnce, signal }: { readonly most: number; readonly atOnce: number; readonly signal: AbortSignal },
): Promise<boolean> {
  await eachOf(atOnce, surplus.slice(0, most), (one) => {
    signal.throwIfAborted();
    return remove(one);
  });
  return surplus.length > most;
}

/** Keeps old rollups small, and drops the oldest. */
export function shrinkOldRollups(context: CollectionDependencies<"clock" | "serverClock" | "rollupStore">) {
  const { rollupStore } = context;
  return async (signal: AbortSignal): Promise<void> => {
    const now = await earlierOfClocks(context);
    const daysAgo = (days: number) => dayOf(new Date(now.getTime() - days * DAY_MS));
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

/**
 * Drops records of environments beyond the settings' number or age.
 *
 * @returns a function that answers true when some are left
 */
export function pruneRecords(
  context: CollectionDependencies<"clock" | "serverClock" | "settings" | "records" | "log">,
) {
  const { records, settings, log } = context;
  const { atMost, days } = settings.records;
  return async (signal: AbortSignal): Promise<boolean> => {
    const notBefore = new Date((await earlierOfClocks(context)).getTime() - days * DAY_MS);
    const { dropped, isMoreLeft } = await records.prune({ atMost, notBefore }, signal);
    if (dropped > 0) log.info("old records were dropped", { dropped });
    return isMoreLeft;
  };
}

/** The earlier of both clocks, so that one wrong clock ends nothing. Rejects while the API server is unavailable. */
export async function earlierOfClocks({
  clock,
  serverClock,
}: CollectionDependencies<"clock" | "serverClock">): Promise<Date> {
  const [own, server] = [clock.now(), await serverClock.now()];
  return new Date(Math.min(own.getTime(), server.getTime()));
}

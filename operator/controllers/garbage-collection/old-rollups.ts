import type { Clock } from "../../ports/clock.ts";
import type { RollupStore, StoredRollup } from "../../ports/observability/rollups.ts";
import { byTheHour, dayOf } from "../../rollups/counts.ts";

/** The ports of the collection of rollups. */
export interface OldRollupsDependencies {
  readonly clock: Clock;
  readonly rollupStore: Pick<RollupStore, "list" | "replace" | "remove">;
}

const DAY_MS = 86_400_000;
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

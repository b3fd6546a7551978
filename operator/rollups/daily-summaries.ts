import { isDeepStrictEqual } from "node:util";
import { DAY_MS } from "../../crds/durations.ts";
import { completeRecord } from "../../crds/environment/environment-record.ts";
import { byDimension, cappedRows, midnightOf, type PeriodSummary, summaryOf } from "../../crds/usage/period-summary.ts";
import { dayOf } from "../../crds/usage/rollup.ts";
import { createUsageParts } from "../../crds/usage/usage-parts.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { EnvironmentLists } from "../ports/caches.ts";
import type { RollupStore, Rollups } from "../ports/rollups.ts";
import { changeRollup } from "./recorder.ts";

interface DailySummariesDependencies {
  readonly clock: Clock;
  readonly caches: EnvironmentLists;
  readonly rollupDays: Pick<Rollups, "days">;
  readonly rollupStore: RollupStore;
}

/** Days that may still change by writes delayed by an outage of the API server. */
const RECENT_DAYS = 3;
/** Older days have hardly any records. */
const EARLIEST_DAYS = 90;
/** Limits on names in a dimension: a name may have 768 characters of any script, and a ConfigMap must stay small. */
const NAMED = { most: 150, mostBytes: 128 * 1024 };

/**
 * Sums up each past day (UTC) from resources and records, and stores the sum in the day's rollup, before the records
 * are dropped. Repeatable: nothing counts twice.
 */
export function summarizeDays({ clock, caches, rollupDays, rollupStore }: DailySummariesDependencies) {
  const read = createUsageParts();

  return async (signal: AbortSignal): Promise<void> => {
    const nowMs = clock.now().getTime();
    const records = read(caches.environments.list(), caches.records.list().map(completeRecord)).flat();
    const stored = new Map(rollupDays.days().map((one) => [one.day, one] as const));
    const today = midnightOf(nowMs);
    const first = records.reduce((earliest, { createdMs }) => Math.min(earliest, midnightOf(createdMs)), today);
    for (let fromMs = Math.max(first, today - EARLIEST_DAYS * DAY_MS); fromMs < today; fromMs += DAY_MS) {
      signal.throwIfAborted();
      const day = dayOf(new Date(fromMs));
      const known = stored.get(day)?.summary;
      if (known !== undefined && fromMs < today - RECENT_DAYS * DAY_MS) continue;
      const summary = capped(summaryOf(records, { fromMs, toMs: fromMs + DAY_MS }, nowMs));
      if (!isNewer(summary, known)) continue;
      await changeRollup(rollupStore, day, (rollup) => ({ slots: {}, writers: {}, ...rollup, summary }));
    }
  };
}

/** A smaller sum misses records that were dropped since the stored one. */
function isNewer(summary: PeriodSummary, stored: PeriodSummary | undefined): boolean {
  if (stored === undefined) return summary.total.thereSeconds > 0;
  return summary.total.thereSeconds >= stored.total.thereSeconds && !isDeepStrictEqual(summary, stored);
}

const capped = (summary: PeriodSummary): PeriodSummary => ({
  ...summary,
  by: byDimension((dimension) => cappedRows(summary.by[dimension], NAMED)),
});

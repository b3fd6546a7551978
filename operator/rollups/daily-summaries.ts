import { isDeepStrictEqual } from "node:util";
import { DAY_MS } from "../../crds/durations.ts";
import { completeRecord } from "../../crds/environment/environment-record.ts";
import { createLifeReader } from "../../crds/environment/life.ts";
import type { Rollups } from "../ports/api/history.ts";
import type { Caches } from "../ports/caches.ts";
import type { Clock } from "../ports/clock.ts";
import type { RollupStore } from "../ports/observability/rollups.ts";
import {
  cappedRows,
  DIMENSIONS,
  type Dimension,
  midnightOf,
  type Rows,
  type Summary,
  summaryOf,
} from "../ports/observability/summary.ts";
import { dayOf } from "./recorder.ts";

/** The ports of the daily sums. */
export interface DailySummariesDependencies {
  readonly clock: Clock;
  readonly caches: {
    readonly environments: Pick<Caches["environments"], "list">;
    readonly records: Pick<Caches["records"], "list">;
  };
  readonly rollupDays: Pick<Rollups, "days">;
  readonly rollupStore: Pick<RollupStore, "find" | "create" | "replace">;
}

/** Days that may still change by writes delayed by an outage of the API server. */
const RECENT_DAYS = 3;
/** Older days have hardly any records. */
const EARLIEST_DAYS = 90;
/** Limits on names in a dimension: a name may have 768 characters of any script, and a ConfigMap must stay small. */
const NAMED = { most: 150, mostBytes: 128 * 1024 };
/** Replicas may write at the same moment. */
const ATTEMPTS = 8;

/**
 * Sums up each past day (UTC) from resources and records, and stores the sum in the day's rollup, before the records
 * are dropped. Repeatable: nothing counts twice.
 */
export function summarizeDays({ clock, caches, rollupDays, rollupStore }: DailySummariesDependencies) {
  const read = createLifeReader();

  return async (signal: AbortSignal): Promise<void> => {
    const nowMs = clock.now().getTime();
    const records = caches.records.list().map((record) => completeRecord(record));
    const lives = read(caches.environments.list(), records);
    const stored = new Map(rollupDays.days().map((one) => [one.day, one] as const));
    const today = midnightOf(nowMs);
    const first = lives.reduce((earliest, { createdMs }) => Math.min(earliest, midnightOf(createdMs)), today);
    for (let fromMs = Math.max(first, today - EARLIEST_DAYS * DAY_MS); fromMs < today; fromMs += DAY_MS) {
      signal.throwIfAborted();
      const day = dayOf(new Date(fromMs));
      const known = stored.get(day)?.summary;
      if (known !== undefined && fromMs < today - RECENT_DAYS * DAY_MS) continue;
      const summary = capped(summaryOf(lives, { fromMs, toMs: fromMs + DAY_MS }, nowMs));
      if (isNews(summary, known)) await keep(day, summary);
    }
  };

  async function keep(day: string, summary: Summary): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const found = await rollupStore.find(day);
      const isKept =
        found === undefined
          ? await rollupStore.create(day, { slots: {}, writers: {}, summary })
          : await rollupStore.replace(found, { ...found, summary });
      if (isKept) return;
    }
    throw new Error(`the rollup of ${day} changes all the time`);
  }
}

/** A smaller sum misses records that were dropped since the stored one. */
function isNews(summary: Summary, stored: Summary | undefined): boolean {
  if (stored === undefined) return summary.total.thereSeconds > 0;
  return summary.total.thereSeconds >= stored.total.thereSeconds && !isDeepStrictEqual(summary, stored);
}

function capped({ by, ...summary }: Summary): Summary {
  const rows = DIMENSIONS.map((dimension) => [dimension, cappedRows(by[dimension], NAMED)] as const);
  return { ...summary, by: Object.fromEntries(rows) as Record<Dimension, Rows> };
}

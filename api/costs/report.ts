import type { Costs } from "../../config/costs.schema.ts";
import type { Settings } from "../../config/settings.ts";
import { DAY_MS } from "../../crds/durations.ts";
import { chargeOf, isThereIn, type Period, sumOfTotals, type Totals } from "../../crds/usage/period-summary.ts";
import { totalPriceOf } from "../../crds/usage/price.ts";
import {
  createOpenDays,
  earliestMs,
  type OpenDays,
  type StoredDays,
  type SummarizedPeriod,
  summarize,
} from "../../crds/usage/summarizer.ts";
import { byName, type UsageRecord } from "../../crds/usage/usage-record.ts";
import type { Memo, UsageSum } from "../observability/memo.ts";
import { rightsTo } from "../observability/named-rows.ts";
import { type PeriodQuery, periodOf } from "../schemas/period.ts";

/** Time from which the rest of a month is projected. */
const RECENT_MS = 7 * DAY_MS;
const LEAST_KNOWN_SECONDS = 3_600;

/** Costs of a period, and of the month; the same for every caller. */
export interface CostReport {
  readonly now: Date;
  readonly summary: SummarizedPeriod;
  /** Sums of the preceding time of the same length. */
  readonly previous: Totals;
  /** Environments at the period's end, and all that existed in it. */
  readonly environments: { readonly active: number; readonly all: number };
  readonly month: MonthTotals;
  /** Environments with known costs in the period: lists with the most expensive first. */
  readonly prices: readonly (() => readonly EnvironmentPrice[])[];
}

/** An environment with its cost, in unrounded cents. */
export interface EnvironmentPrice {
  readonly record: UsageRecord;
  readonly rights: ReturnType<typeof rightsTo>;
  readonly price: number;
}

/** The month of a moment, in UTC. */
interface MonthTotals {
  readonly soFar: Totals;
  /** Sums of the last days, from the first day with known data. */
  readonly recent: { readonly totals: Totals; readonly seconds: number };
  readonly leftSeconds: number;
}

/** Report of the requested period, see `Memo`. */
export function costReportOf(query: PeriodQuery, services: Used & { readonly memo: Memo }): CostReport {
  return services.memo.of(`report ${JSON.stringify(query)}`, costReport(query, services));
}

interface Used {
  readonly settings: Pick<Settings, "costs">;
  readonly rollups: StoredDays;
}

/** Sums of some environments for a report. */
interface PartReport {
  readonly firstMs: number;
  readonly open: Readonly<Record<keyof Periods, OpenDays>>;
  readonly active: number;
  readonly prices: () => readonly EnvironmentPrice[];
}

/** Costs in the requested period. */
export function costReport(query: PeriodQuery, { settings, rollups }: Used): UsageSum<PartReport, CostReport> {
  return {
    ofPart(records, now) {
      const period = periodOf(query, now);
      const openDaysOf = createOpenDays(records, now, rollups);
      const { requested, previous, soFar, recent } = periodsOf(period, now);
      return {
        firstMs: earliestMs(records),
        open: {
          requested: openDaysOf(requested),
          previous: openDaysOf(previous),
          soFar: openDaysOf(soFar),
          recent: openDaysOf(recent),
        },
        active: activeOf(period, now, records),
        prices: pricesOf({ period, nowMs: now.getTime(), costs: settings.costs }, records),
      };
    },
    whole(parts, now) {
      const periods = periodsOf(periodOf(query, now), now);
      const firstMs = parts.reduce((first, part) => Math.min(first, part.firstMs), Number.POSITIVE_INFINITY);
      const sum = (name: keyof Periods) =>
        summarize(periods[name], now, rollups, { firstMs, open: parts.map(({ open }) => open[name]) });
      const summary = sum("requested");
      const active = parts.reduce((count, part) => count + part.active, 0);
      return {
        now,
        summary,
        previous: totalOf(sum("previous")),
        environments: { active, all: active + totalOf(summary).deleted },
        month: monthOf(now, sum("soFar"), sum("recent")),
        prices: parts.map(({ prices }) => prices),
      };
    },
  };
}

/** Periods of a report: the requested one, the one before it, the month so far, and the last days. */
interface Periods {
  readonly requested: Period;
  readonly previous: Period;
  readonly soFar: Period;
  readonly recent: Period;
}

function periodsOf(requested: Period, now: Date): Periods {
  const [{ fromMs, toMs }, nowMs] = [requested, now.getTime()];
  return {
    requested,
    previous: { fromMs: fromMs - (toMs - fromMs), toMs: fromMs },
    soFar: { fromMs: Date.UTC(now.getUTCFullYear(), now.getUTCMonth()), toMs: nowMs },
    recent: { fromMs: nowMs - RECENT_MS, toMs: nowMs },
  };
}

interface Priced {
  readonly period: Period;
  readonly nowMs: number;
  readonly costs: Costs;
}

function pricesOf({ period, nowMs, costs }: Priced, records: readonly UsageRecord[]): PartReport["prices"] {
  const prices = (record: UsageRecord) => ({
    record,
    rights: rightsTo(record),
    price: totalPriceOf(chargeOf(record, period, nowMs), costs),
  });
  const isMeant = (record: UsageRecord) =>
    (record.usage !== undefined || record.allocations !== undefined) && isThereIn(record, period, nowMs);
  let known: readonly EnvironmentPrice[] | undefined;
  return () => {
    known ??= records.filter(isMeant).map(prices).sort(dearestFirst);
    return known;
  };
}

/** Order by price, the highest first; equal ones by name. */
export const dearestFirst = (one: EnvironmentPrice, other: EnvironmentPrice) =>
  other.price - one.price || byName(one.record, other.record);

/** Only the total: hidden rows are not summed up. */
const totalOf = ({ days }: SummarizedPeriod): Totals => sumOfTotals(days.map(({ summary }) => summary.total));

/** True when requests are known, or no environments existed. */
export const isKnown = ({ thereSeconds, knownSeconds }: Totals): boolean => thereSeconds === 0 || knownSeconds > 0;

/** Number of environments at the period's end. */
function activeOf(period: Period, now: Date, records: readonly UsageRecord[]): number {
  const endMs = Math.min(period.toMs, now.getTime());
  const isActive = ({ createdMs, deletedMs = Number.POSITIVE_INFINITY }: UsageRecord) =>
    createdMs < endMs && deletedMs >= endMs;
  return records.filter((record) => isThereIn(record, period, endMs) && isActive(record)).length;
}

function monthOf(now: Date, soFar: SummarizedPeriod, recent: SummarizedPeriod): MonthTotals {
  const nowMs = now.getTime();
  const endMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  const [first] = recent.days;
  const recentFromMs = first === undefined ? nowMs : Math.max(nowMs - RECENT_MS, Date.parse(first.date));
  return {
    soFar: totalOf(soFar),
    recent: {
      totals: totalOf(recent),
      seconds: Math.max(LEAST_KNOWN_SECONDS, (nowMs - recentFromMs) / 1000),
    },
    leftSeconds: (endMs - nowMs) / 1000,
  };
}

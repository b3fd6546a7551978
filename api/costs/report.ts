import type { Settings } from "../../config/settings.ts";
import { DAY_MS } from "../../crds/durations.ts";
import { chargeOf, isThereIn, type Period, sumOfTotals, type Totals } from "../../crds/usage/period-summary.ts";
import { totalPriceOf } from "../../crds/usage/price.ts";
import { createSummarizer, type SummarizedPeriod, type UsageSources } from "../../crds/usage/summarizer.ts";
import type { UsageRecord } from "../../crds/usage/usage-record.ts";
import type { Memo } from "../observability/memo.ts";
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
  /** Environments with known costs in the period. */
  readonly prices: () => readonly EnvironmentPrice[];
}

/** An environment with its cost, in unrounded cents. */
export interface EnvironmentPrice {
  readonly record: UsageRecord;
  readonly price: number;
}

/** The month of a moment, in UTC. */
interface MonthTotals {
  readonly soFar: Totals;
  /** Sums of the last days, from the first day with known data. */
  readonly recent: { readonly totals: Totals; readonly seconds: number };
  readonly leftSeconds: number;
}

/** Report of the requested period; computed once for simultaneous requests. */
export function costReportOf(query: PeriodQuery, services: Used & { readonly memo: Memo }): CostReport {
  const compute = (now: Date) => costReport(periodOf(query, now), now, services);
  return services.memo.of(`report ${JSON.stringify(query)}`, compute);
}

interface Used extends UsageSources {
  readonly settings: Settings;
}

export function costReport(period: Period, now: Date, sources: Used): CostReport {
  const { fromMs, toMs } = period;
  const sum = createSummarizer(now, sources);
  const summary = sum(period);
  const records = sources.usageRecords();
  return {
    now,
    summary,
    previous: totalOf(sum({ fromMs: fromMs - (toMs - fromMs), toMs: fromMs })),
    environments: environmentsOf(summary, now, records),
    month: monthOf(now, sum),
    prices: pricesOf(period, now, sources),
  };
}

function pricesOf(period: Period, now: Date, { usageRecords, settings }: Used): () => readonly EnvironmentPrice[] {
  const nowMs = now.getTime();
  const prices = (record: UsageRecord) => ({
    record,
    price: totalPriceOf(chargeOf(record, period, nowMs), settings.costs),
  });
  const isMeant = (record: UsageRecord) =>
    (record.usage !== undefined || record.allocations !== undefined) && isThereIn(record, period, nowMs);
  let known: readonly EnvironmentPrice[] | undefined;
  return () => {
    known ??= usageRecords().filter(isMeant).map(prices);
    return known;
  };
}

/** Only the total: hidden rows are not summed up. */
const totalOf = ({ days }: SummarizedPeriod): Totals => sumOfTotals(days.map(({ summary }) => summary.total));

/** True when requests are known, or no environments existed. */
export const isKnown = ({ thereSeconds, knownSeconds }: Totals): boolean => thereSeconds === 0 || knownSeconds > 0;

function environmentsOf(summary: SummarizedPeriod, now: Date, records: readonly UsageRecord[]) {
  const { period } = summary;
  const endMs = Math.min(period.toMs, now.getTime());
  const isActive = ({ createdMs, deletedMs = Number.POSITIVE_INFINITY }: UsageRecord) =>
    createdMs < endMs && deletedMs >= endMs;
  const active = records.filter((record) => isThereIn(record, period, endMs) && isActive(record)).length;
  return { active, all: active + totalOf(summary).deleted };
}

function monthOf(now: Date, sum: (period: Period) => SummarizedPeriod): MonthTotals {
  const nowMs = now.getTime();
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const [beginMs, endMs] = [Date.UTC(year, month), Date.UTC(year, month + 1)];
  const recent = sum({ fromMs: nowMs - RECENT_MS, toMs: nowMs });
  const [first] = recent.days;
  const recentFromMs = first === undefined ? nowMs : Math.max(nowMs - RECENT_MS, Date.parse(first.date));
  return {
    soFar: totalOf(sum({ fromMs: beginMs, toMs: nowMs })),
    recent: {
      totals: totalOf(recent),
      seconds: Math.max(LEAST_KNOWN_SECONDS, (nowMs - recentFromMs) / 1000),
    },
    leftSeconds: (endMs - nowMs) / 1000,
  };
}

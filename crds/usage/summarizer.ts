import { DAY_MS, WEEK_MS } from "../durations.ts";
import { oncePer } from "../once-per.ts";
import { midnightOf, type Period, type PeriodSummary, summaryOf, sumOfSummaries } from "./period-summary.ts";
import type { UsageRecord } from "./usage-record.ts";

/** A day in UTC, or the part of it that is in the period. */
export interface DaySummary {
  /** Date such as `2026-11-23`. */
  readonly date: string;
  readonly summary: PeriodSummary;
}

/** Statistics of environments in a period. */
export interface SummarizedPeriod {
  readonly period: Period;
  /** Days of the period with possible data, the oldest first. */
  readonly days: readonly DaySummary[];
  readonly whole: PeriodSummary;
}

/** Sources of a period's statistics. */
export interface UsageSources {
  readonly usageRecords: () => readonly UsageRecord[];
  readonly rollups: { days(): readonly { readonly day: string; readonly summary?: PeriodSummary | undefined }[] };
}

/**
 * Sums up a period: whole days from stored sums, the rest from resources and records. Both agree, but only a stored sum
 * includes dropped records.
 */
export function summarize(period: Period, now: Date, sources: UsageSources): SummarizedPeriod {
  return createSummarizer(now, sources)(period);
}

/** Sums up several periods at one moment; common parts once. */
export function createSummarizer(
  now: Date,
  { usageRecords, rollups }: UsageSources,
): (period: Period) => SummarizedPeriod {
  const nowMs = now.getTime();
  const all = usageRecords();
  const stored = new Map(rollups.days().map((one) => [one.day, one] as const));
  const firstCreatedMs = earliest(all) ?? nowMs;
  const firstMs = [...stored.keys()].reduce((first, day) => Math.min(first, Date.parse(day)), firstCreatedMs);
  const known = new Map<string, PeriodSummary>();
  const partOf = (part: Period): PeriodSummary => {
    if (part.toMs <= firstCreatedMs) return NOTHING;
    const key = `${part.fromMs}-${part.toMs}`;
    const summary = known.get(key) ?? summaryOf(all, part, nowMs);
    known.set(key, summary);
    return summary;
  };
  return (period) => {
    const days: DaySummary[] = [];
    const endMs = Math.min(period.toMs, nowMs);
    for (let fromMs = Math.max(period.fromMs, firstMs); fromMs < endMs; fromMs = nextMidnight(fromMs)) {
      const part = { fromMs, toMs: Math.min(nextMidnight(fromMs), period.toMs) };
      const date = new Date(fromMs).toISOString().slice(0, 10);
      const ofWholeDay = part.toMs - part.fromMs === DAY_MS ? stored.get(date)?.summary : undefined;
      days.push({ date, summary: ofWholeDay ?? partOf(part) });
    }
    let whole: PeriodSummary | undefined;
    return {
      period,
      days,
      get whole() {
        whole ??= sumOfSummaries(days.map(({ summary }) => summary));
        return whole;
      },
    };
  };
}

const NOTHING = sumOfSummaries([]);

/** The epoch was a Thursday. */
const MONDAY_MS = 4 * DAY_MS;

/** Points of a series: days, or weeks by their Monday. */
export function pointsOf(days: readonly DaySummary[], interval: "day" | "week" = "day"): readonly DaySummary[] {
  if (interval === "day") return days;
  const weeks = new Map<string, PeriodSummary[]>();
  for (const { date, summary } of days) {
    const sinceMonday = (Date.parse(date) - MONDAY_MS) % WEEK_MS;
    const monday = new Date(Date.parse(date) - sinceMonday).toISOString().slice(0, 10);
    weeks.set(monday, [...(weeks.get(monday) ?? []), summary]);
  }
  return [...weeks].map(([date, summaries]) => ({ date, summary: sumOfSummaries(summaries) }));
}

/** Memoized, because the list stays the same until something changes. */
const earliest = oncePer((records: readonly UsageRecord[]) =>
  records.reduce<number | undefined>((first, { createdMs }) => Math.min(first ?? createdMs, createdMs), undefined),
);

const nextMidnight = (ms: number) => midnightOf(ms) + DAY_MS;

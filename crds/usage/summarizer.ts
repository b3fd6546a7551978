import { DAY_MS, WEEK_MS } from "../durations.ts";
import { oncePer } from "../once-per.ts";
import {
  midnightOf,
  type PartSummary,
  type Period,
  type PeriodSummary,
  partSummaryOf,
  sumOfParts,
  sumOfSummaries,
} from "./period-summary.ts";
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

/** Stored sums of days. */
export interface StoredDays {
  days(): readonly { readonly day: string; readonly summary?: PeriodSummary | undefined }[];
}

/** Sums of some environments by date, of the days of a period that are not stored. */
export type OpenDays = ReadonlyMap<string, PartSummary>;

/** Sums up some environments in several periods at one moment; common parts once. */
export function createOpenDays(
  records: readonly UsageRecord[],
  now: Date,
  rollups: StoredDays,
): (period: Period) => OpenDays {
  const nowMs = now.getTime();
  const stored = storedDays(rollups);
  // The whole first day of the records: another machine's clock may be ahead of this one.
  const firstMs = midnightOf(earliestMs(records));
  const known = new Map<string, PartSummary>();
  const sumOf = (part: Period): PartSummary => {
    const key = `${part.fromMs}-${part.toMs}`;
    const summary = known.get(key) ?? partSummaryOf(records, part, nowMs);
    known.set(key, summary);
    return summary;
  };
  return (period) => {
    const open = daysOf(period, firstMs, nowMs).filter(({ date, part }) => !isWhole(part) || !stored.has(date));
    return new Map(open.map(({ date, part }) => [date, sumOf(part)] as const));
  };
}

/** All environments in parts, each with the sums of the days that are not stored. */
export interface PeriodParts {
  /** Earliest creation, in milliseconds since 1970; infinite without environments. */
  readonly firstMs: number;
  readonly open: readonly OpenDays[];
}

/**
 * Sums up a period: whole days from stored sums, the rest from resources and records. Both agree, but only a stored sum
 * includes dropped records.
 */
export function summarize(period: Period, now: Date, rollups: StoredDays, parts: PeriodParts): SummarizedPeriod {
  const stored = storedDays(rollups);
  const storedFromMs = rollups.days().reduce((first, { day }) => Math.min(first, Date.parse(day)), parts.firstMs);
  const days = daysOf(period, storedFromMs, now.getTime()).map(({ date, part }) => ({
    date,
    summary:
      (isWhole(part) ? stored.get(date) : undefined) ?? sumOfParts(parts.open.flatMap((one) => one.get(date) ?? [])),
  }));
  let whole: PeriodSummary | undefined;
  return {
    period,
    days,
    get whole() {
      whole ??= sumOfSummaries(days.map(({ summary }) => summary));
      return whole;
    },
  };
}

/** Earliest creation, in milliseconds since 1970; infinite without environments. */
export const earliestMs = oncePer((records: readonly UsageRecord[]) =>
  records.reduce((first, { createdMs }) => Math.min(first, createdMs), Number.POSITIVE_INFINITY),
);

/** Days of the period from the first moment with possible data until now. */
function daysOf({ fromMs, toMs }: Period, firstMs: number, nowMs: number) {
  const days: { readonly date: string; readonly part: Period }[] = [];
  const endMs = Math.min(toMs, nowMs);
  for (let atMs = Math.max(fromMs, firstMs); atMs < endMs; atMs = nextMidnight(atMs)) {
    const part = { fromMs: atMs, toMs: Math.min(nextMidnight(atMs), toMs) };
    days.push({ date: new Date(atMs).toISOString().slice(0, 10), part });
  }
  return days;
}

function storedDays(rollups: StoredDays): ReadonlyMap<string, PeriodSummary> {
  return new Map(
    rollups.days().flatMap(({ day, summary }) => (summary === undefined ? [] : [[day, summary] as const])),
  );
}

const isWhole = ({ fromMs, toMs }: Period) => toMs - fromMs === DAY_MS;

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

const nextMidnight = (ms: number) => midnightOf(ms) + DAY_MS;

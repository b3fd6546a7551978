import { DAY_MS, WEEK_MS } from "../../crds/durations.ts";
import type { Life } from "../../crds/environment/life.ts";
import { oncePer } from "../../crds/once-per.ts";
import type { Rollups } from "../../operator/ports/api/history.ts";
import {
  midnightOf,
  type Period,
  type Summary,
  summaryOf,
  sumOfSummaries,
} from "../../operator/ports/observability/summary.ts";
import type { Interval } from "../schemas/period.ts";

/** A day in UTC, or the part of it that is in the period. */
export interface DaySummary {
  /** Date such as `2026-11-23`. */
  readonly date: string;
  readonly summary: Summary;
}

/** Statistics of environments in a period. */
export interface PeriodSummary {
  readonly period: Period;
  /** Days of the period with possible data, the oldest first. */
  readonly days: readonly DaySummary[];
  readonly whole: Summary;
}

/** Sources of figures. */
export interface Sources {
  readonly lives: () => readonly Life[];
  readonly rollups: Pick<Rollups, "days">;
}

/**
 * Sums up a period: whole days from stored sums, the rest from resources and records. Both agree, but only a stored sum
 * includes dropped records.
 */
export function summarize(period: Period, now: Date, sources: Sources): PeriodSummary {
  return createSummarizer(now, sources)(period);
}

/** Sums up several periods at one moment; common parts once. */
export function createSummarizer(now: Date, { lives, rollups }: Sources): (period: Period) => PeriodSummary {
  const nowMs = now.getTime();
  const all = lives();
  const stored = new Map(rollups.days().map((one) => [one.day, one] as const));
  const firstLifeMs = earliest(all) ?? nowMs;
  const firstMs = [...stored.keys()].reduce((first, day) => Math.min(first, Date.parse(day)), firstLifeMs);
  const known = new Map<string, Summary>();
  const partOf = (part: Period): Summary => {
    if (part.toMs <= firstLifeMs) return NOTHING;
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
    let whole: Summary | undefined;
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
export function pointsOf(days: readonly DaySummary[], interval: Interval = "day"): readonly DaySummary[] {
  if (interval === "day") return days;
  const weeks = new Map<string, Summary[]>();
  for (const { date, summary } of days) {
    const sinceMonday = (Date.parse(date) - MONDAY_MS) % WEEK_MS;
    const monday = new Date(Date.parse(date) - sinceMonday).toISOString().slice(0, 10);
    weeks.set(monday, [...(weeks.get(monday) ?? []), summary]);
  }
  return [...weeks].map(([date, summaries]) => ({ date, summary: sumOfSummaries(summaries) }));
}

/** Memoized, because the list stays the same until something changes. */
const earliest = oncePer((lives: readonly Life[]) =>
  lives.reduce<number | undefined>((first, { createdMs }) => Math.min(first ?? createdMs, createdMs), undefined),
);

const nextMidnight = (ms: number) => midnightOf(ms) + DAY_MS;

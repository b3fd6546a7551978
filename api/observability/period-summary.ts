import type { Life } from "../../crds/environment/life.ts";
import type { Rollups } from "../../operator/ports/facade/rollups.ts";
import type { Period } from "../../operator/ports/observability/period.ts";
import { type Summary, summaryOf, sumOfSummaries } from "../../operator/ports/observability/summary.ts";

const DAY_MS = 86_400_000;

/** A day in UTC, or the part of it that is in the period. */
export interface DaySummary {
  /** Such as `2026-11-23`. */
  readonly date: string;
  readonly summary: Summary;
}

/** What became of environments in a period. */
export interface PeriodSummary {
  readonly period: Period;
  /** The days of the period of which anything can be known, the oldest first. */
  readonly days: readonly DaySummary[];
  readonly whole: Summary;
}

/** What figures are summed up from. */
export interface Sources {
  readonly lives: () => readonly Life[];
  readonly rollups: Pick<Rollups, "days">;
}

/**
 * Sums up a period: whole days by what was stored of them, the rest by resources and records. Both say the same of a day,
 * but of a day of which records were dropped only the stored sum is complete.
 */
export function summarize(period: Period, now: Date, { lives, rollups }: Sources): PeriodSummary {
  const nowMs = now.getTime();
  const all = lives();
  const stored = new Map(rollups.days().map((one) => [one.day, one] as const));
  const known = [...all.map(({ createdMs }) => createdMs), ...[...stored.keys()].map((day) => Date.parse(day)), nowMs];
  const firstMs = known.reduce((one, other) => Math.min(one, other));
  const end = Math.min(period.toMs, nowMs);
  const days: DaySummary[] = [];
  for (let fromMs = Math.max(period.fromMs, firstMs); fromMs < end; fromMs = nextMidnight(fromMs)) {
    const part = { fromMs, toMs: Math.min(nextMidnight(fromMs), period.toMs) };
    const date = new Date(fromMs).toISOString().slice(0, 10);
    const ofWholeDay = part.toMs - part.fromMs === DAY_MS ? stored.get(date)?.summary : undefined;
    days.push({ date, summary: ofWholeDay ?? summaryOf(all, part, nowMs) });
  }
  return { period, days, whole: sumOfSummaries(days.map(({ summary }) => summary)) };
}

const nextMidnight = (ms: number) => (Math.floor(ms / DAY_MS) + 1) * DAY_MS;

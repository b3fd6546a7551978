import type { Static } from "typebox";
import { HOUR_MS } from "../../crds/durations.ts";
import type { Period } from "../../crds/usage/period-summary.ts";
import { rounded } from "../schemas/fields.ts";
import { type PeriodQuery, periodOf, toPeriod } from "../schemas/period.ts";
import type { Services } from "../services.ts";
import { countedIn, coverageOf } from "./counted.ts";
import type { UsageSum } from "./memo.ts";
import { OBJECTIVES_OF_COUNTS, OBJECTIVES_OF_USAGE, type Objective, type Score } from "./objectives.ts";
import type { ObjectiveReport, SloReport, SloState } from "./schemas.ts";

/** Fewer events say nothing about a rate. */
const LEAST_EVENTS = 10;
/** Percentage of the error budget below which an objective is at risk. */
const LITTLE_BUDGET = 25;
const WORST_FIRST = ["breached", "at_risk", "met", "no_data"] as const satisfies readonly SloState[];

interface Scored {
  readonly objective: Omit<Objective<never>, "score">;
  readonly period: Score;
  readonly h1: Score;
  readonly h6: Score;
}

interface Requested {
  readonly period: Period;
  readonly nowMs: number;
}

/** Scores of objectives about environments. */
export interface UsageScores extends Requested {
  readonly scored: readonly Scored[];
}

/** Scores in the requested period. */
export function usageScores(query: PeriodQuery): UsageSum<readonly Scored[], UsageScores> {
  const requestedAt = (now: Date) => ({ period: periodOf(query, now), nowMs: now.getTime() });
  return {
    ofPart(records, now) {
      const requested = requestedAt(now);
      return scores(OBJECTIVES_OF_USAGE, requested, (period) => ({ records, period, nowMs: requested.nowMs }));
    },
    whole: (parts, now) => ({
      ...requestedAt(now),
      scored: OBJECTIVES_OF_USAGE.map((objective, index) => ({
        objective,
        ...sumOfScores(parts.flatMap((part) => part[index] ?? [])),
      })),
    }),
  };
}

function sumOfScores(all: readonly Scored[]): Omit<Scored, "objective"> {
  const sumOf = (scoreOf: (scored: Scored) => Score): Score => ({
    good: all.reduce((sum, one) => sum + scoreOf(one).good, 0),
    total: all.reduce((sum, one) => sum + scoreOf(one).total, 0),
  });
  return { period: sumOf(({ period }) => period), h1: sumOf(({ h1 }) => h1), h6: sumOf(({ h6 }) => h6) };
}

/** Objectives in the period, and their error budgets by the last hours. */
export function sloReport({ scored, ...requested }: UsageScores, { rollups }: Services): Static<typeof SloReport> {
  const counted = scores(OBJECTIVES_OF_COUNTS, requested, (of) => countedIn(rollups, of));
  const objectives = [...scored, ...counted].map(toObjective);
  const overall = WORST_FIRST.find((state) => objectives.some((one) => one.state === state)) ?? "no_data";
  return {
    window: toPeriod(requested.period),
    objectives,
    overall,
    coverage: coverageOf(rollups),
  };
}

function scores<Evidence>(
  objectives: readonly Objective<Evidence>[],
  { period, nowMs }: Requested,
  evidenceIn: (period: Period) => Evidence,
): readonly Scored[] {
  const lastHours = (hours: number) => evidenceIn({ fromMs: nowMs - hours * HOUR_MS, toMs: nowMs });
  const [ofPeriod, lastHour, lastSix] = [evidenceIn(period), lastHours(1), lastHours(6)];
  return objectives.map((objective) => ({
    objective,
    period: objective.score(ofPeriod),
    h1: objective.score(lastHour),
    h6: objective.score(lastSix),
  }));
}

function toObjective({ objective, period: { good, total }, ...lately }: Scored): ObjectiveReport {
  const { id, description, target } = objective;
  const availability = total === 0 ? null : good / total;
  const remaining = availability === null ? null : 100 * (1 - (1 - availability) / (1 - target));
  const burnRate = { h1: burnRateOf(lately.h1, target), h6: burnRateOf(lately.h6, target) };
  return {
    id,
    description,
    target,
    good,
    total,
    availability: rounded(availability, 6),
    error_budget: { remaining_percent: rounded(remaining, 2) },
    burn_rate: burnRate,
    state: stateOf(remaining, burnRate),
  };
}

/** Use of the error budget as a multiple of the allowed rate; `null` with too few events. */
function burnRateOf({ good, total }: Score, target: number): number | null {
  return total < LEAST_EVENTS ? null : rounded((total - good) / total / (1 - target), 2);
}

function stateOf(remainingPercent: number | null, { h1, h6 }: ObjectiveReport["burn_rate"]): SloState {
  if (remainingPercent === null) return "no_data";
  // Tolerates floating point: an exactly met target leaves nothing.
  if (remainingPercent < -1e-6) return "breached";
  const isBurning = (h1 ?? 0) > 1 && (h6 ?? 0) > 1;
  return isBurning || remainingPercent < LITTLE_BUDGET ? "at_risk" : "met";
}

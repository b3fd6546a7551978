import type { Static } from "typebox";
import type { Period } from "../../operator/ports/observability/period.ts";
import { toPeriod } from "../schemas/period.ts";
import { rounded } from "../schemas/rounded.ts";
import type { Services } from "../services.ts";
import { countedIn, countedSince } from "./counted.ts";
import { type Evidence, OBJECTIVES, type Objective, type Score } from "./objectives.ts";
import type { ObjectiveReport, SloReport, SloState } from "./schemas.ts";

const HOUR_MS = 3_600_000;
/** Fewer events say nothing about a rate. */
const LEAST_EVENTS = 10;
/** Less of its error budget, and an objective is at risk; in percent. */
const LITTLE_BUDGET = 25;
const WORST_FIRST = ["breached", "at_risk", "met", "no_data"] as const satisfies readonly SloState[];

type Used = Pick<Services, "lives" | "rollups">;

/** Each objective in the period, and what the last hours make of its error budget. */
export function sloReport(period: Period, now: Date, services: Used): Static<typeof SloReport> {
  const nowMs = now.getTime();
  const lives = services.lives();
  const evidenceIn = (of: Period): Evidence => ({ lives, counts: countedIn(services.rollups, of), period: of, nowMs });
  const lastHours = (hours: number) => evidenceIn({ fromMs: nowMs - hours * HOUR_MS, toMs: nowMs });
  const [evidence, lastHour, lastSix] = [evidenceIn(period), lastHours(1), lastHours(6)];
  const objectives = OBJECTIVES.map((objective) => {
    const burnRate = (of: Evidence) => burnRateOf(objective.score(of), objective.target);
    return toObjective(objective, objective.score(evidence), { h1: burnRate(lastHour), h6: burnRate(lastSix) });
  });
  const overall = WORST_FIRST.find((state) => objectives.some((one) => one.state === state)) ?? "no_data";
  return {
    window: toPeriod(period),
    objectives,
    overall,
    coverage: { requests_since: countedSince(services.rollups) ?? null },
  };
}

type BurnRate = ObjectiveReport["burn_rate"];

function toObjective(
  { id, description, target }: Objective,
  { good, total }: Score,
  burnRate: BurnRate,
): ObjectiveReport {
  const availability = total === 0 ? null : good / total;
  const remaining = availability === null ? null : 100 * (1 - (1 - availability) / (1 - target));
  const report = { id, description, target, good, total, burn_rate: burnRate };
  return {
    ...report,
    availability: rounded(availability, 6),
    error_budget: { remaining_percent: rounded(remaining, 2) },
    state: stateOf(remaining, burnRate),
  };
}

/** How many times as fast as allowed the error budget is used up; `null` with too few events to tell. */
function burnRateOf({ good, total }: Score, target: number): number | null {
  return total < LEAST_EVENTS ? null : rounded((total - good) / total / (1 - target), 2);
}

function stateOf(remainingPercent: number | null, { h1, h6 }: BurnRate): SloState {
  if (remainingPercent === null) return "no_data";
  // A target that is met exactly leaves nothing, but for what floating point makes of it.
  if (remainingPercent < -1e-6) return "breached";
  const isBurning = (h1 ?? 0) > 1 && (h6 ?? 0) > 1;
  return isBurning || remainingPercent < LITTLE_BUDGET ? "at_risk" : "met";
}

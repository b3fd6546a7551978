import type { Life } from "../../crds/environment/life.ts";
import type { Period } from "../../operator/ports/observability/period.ts";
import { isThereIn, type Tally } from "../../operator/ports/observability/summary.ts";
import { type PeriodSummary, type Sources, summarize } from "../observability/period-summary.ts";

const DAY_MS = 86_400_000;
/** What the rest of a month is projected from. */
const RECENT_MS = 7 * DAY_MS;
const LEAST_KNOWN_SECONDS = 3_600;

/** What costs are told from; the same for every caller. */
export interface CostFigures {
  readonly now: Date;
  readonly summary: PeriodSummary;
  /** Of the time before, which was as long. */
  readonly previous: Tally;
  /** Environments at the end of the period, and all that were there in it. */
  readonly environments: { readonly active: number; readonly all: number };
  readonly month: MonthFigures;
}

/** The month of a moment, in UTC. */
interface MonthFigures {
  readonly soFar: Tally;
  /** Of the last days, from the first of which anything is known. */
  readonly recent: { readonly tally: Tally; readonly seconds: number };
  /** What is left of the month. */
  readonly leftSeconds: number;
}

export function costFigures(period: Period, now: Date, services: Sources): CostFigures {
  const { fromMs, toMs } = period;
  const summary = summarize(period, now, services);
  const previous = summarize({ fromMs: fromMs - (toMs - fromMs), toMs: fromMs }, now, services);
  return {
    now,
    summary,
    previous: previous.whole.total,
    environments: environmentsOf(summary, now, services.lives()),
    month: monthOf(now, services),
  };
}

/** Whether anything is known of what the environments requested; where there were none, nothing is unknown. */
export const isKnown = ({ thereSeconds, knownSeconds }: Tally): boolean => thereSeconds === 0 || knownSeconds > 0;

function environmentsOf({ period, whole }: PeriodSummary, now: Date, lives: readonly Life[]) {
  const endMs = Math.min(period.toMs, now.getTime());
  const isActive = ({ createdMs, deletedMs = Number.POSITIVE_INFINITY }: Life) =>
    createdMs < endMs && deletedMs >= endMs;
  const active = lives.filter((life) => isThereIn(life, period, endMs) && isActive(life)).length;
  return { active, all: active + whole.total.deleted };
}

function monthOf(now: Date, services: Sources): MonthFigures {
  const nowMs = now.getTime();
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const [beginMs, endMs] = [Date.UTC(year, month), Date.UTC(year, month + 1)];
  const recent = summarize({ fromMs: nowMs - RECENT_MS, toMs: nowMs }, now, services);
  const [first] = recent.days;
  const recentFromMs = first === undefined ? nowMs : Math.max(nowMs - RECENT_MS, Date.parse(first.date));
  return {
    soFar: summarize({ fromMs: beginMs, toMs: nowMs }, now, services).whole.total,
    recent: {
      tally: recent.whole.total,
      seconds: Math.max(LEAST_KNOWN_SECONDS, (nowMs - recentFromMs) / 1000),
    },
    leftSeconds: (endMs - nowMs) / 1000,
  };
}

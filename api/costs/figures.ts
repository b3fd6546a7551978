import type { Settings } from "../../config/settings.ts";
import { DAY_MS } from "../../crds/durations.ts";
import type { Life } from "../../crds/environment/life.ts";
import {
  chargeOf,
  isThereIn,
  type Period,
  sumOfTallies,
  type Tally,
} from "../../operator/ports/observability/summary.ts";
import { createSummarizer, type PeriodSummary, type Sources } from "../observability/period-summary.ts";
import { type PeriodQuery, periodOf } from "../schemas/period.ts";
import type { Services } from "../services.ts";
import { totalPriceOf } from "./price.ts";

/** Time from which the rest of a month is projected. */
const RECENT_MS = 7 * DAY_MS;
const LEAST_KNOWN_SECONDS = 3_600;

/** Figures of costs; the same for every caller. */
export interface CostFigures {
  readonly now: Date;
  readonly summary: PeriodSummary;
  /** Sums of the preceding time of the same length. */
  readonly previous: Tally;
  /** Environments at the period's end, and all that existed in it. */
  readonly environments: { readonly active: number; readonly all: number };
  readonly month: MonthFigures;
  /** Environments with known costs in the period. */
  readonly priced: () => readonly Priced[];
}

/** An environment with its cost, in unrounded cents. */
export interface Priced {
  readonly life: Life;
  readonly price: number;
}

/** The month of a moment, in UTC. */
interface MonthFigures {
  readonly soFar: Tally;
  /** Sums of the last days, from the first day with known data. */
  readonly recent: { readonly tally: Tally; readonly seconds: number };
  readonly leftSeconds: number;
}

/** Figures of the period; computed once for simultaneous requests. */
export function figuresOf(query: PeriodQuery, services: Used & Pick<Services, "answers">): CostFigures {
  const compute = (now: Date) => costFigures(periodOf(query, now), now, services);
  return services.answers.of(`figures ${JSON.stringify(query)}`, compute);
}

interface Used extends Sources {
  readonly settings: Pick<Settings, "costs">;
}

export function costFigures(period: Period, now: Date, sources: Used): CostFigures {
  const { fromMs, toMs } = period;
  const sum = createSummarizer(now, sources);
  const summary = sum(period);
  const lives = sources.lives();
  return {
    now,
    summary,
    previous: totalOf(sum({ fromMs: fromMs - (toMs - fromMs), toMs: fromMs })),
    environments: environmentsOf(summary, now, lives),
    month: monthOf(now, sum),
    priced: pricedLives(period, now, sources),
  };
}

function pricedLives(period: Period, now: Date, { lives, settings }: Used): () => readonly Priced[] {
  const nowMs = now.getTime();
  const priced = (life: Life) => ({ life, price: totalPriceOf(chargeOf(life, period, nowMs), settings.costs) });
  const isMeant = (life: Life) =>
    (life.usage !== undefined || life.allocations !== undefined) && isThereIn(life, period, nowMs);
  let known: readonly Priced[] | undefined;
  return () => {
    known ??= lives().filter(isMeant).map(priced);
    return known;
  };
}

/** Only the total: hidden rows are not summed up. */
const totalOf = ({ days }: PeriodSummary): Tally => sumOfTallies(days.map(({ summary }) => summary.total));

/** True when requests are known, or no environments existed. */
export const isKnown = ({ thereSeconds, knownSeconds }: Tally): boolean => thereSeconds === 0 || knownSeconds > 0;

function environmentsOf(summary: PeriodSummary, now: Date, lives: readonly Life[]) {
  const { period } = summary;
  const endMs = Math.min(period.toMs, now.getTime());
  const isActive = ({ createdMs, deletedMs = Number.POSITIVE_INFINITY }: Life) =>
    createdMs < endMs && deletedMs >= endMs;
  const active = lives.filter((life) => isThereIn(life, period, endMs) && isActive(life)).length;
  return { active, all: active + totalOf(summary).deleted };
}

function monthOf(now: Date, sum: (period: Period) => PeriodSummary): MonthFigures {
  const nowMs = now.getTime();
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const [beginMs, endMs] = [Date.UTC(year, month), Date.UTC(year, month + 1)];
  const recent = sum({ fromMs: nowMs - RECENT_MS, toMs: nowMs });
  const [first] = recent.days;
  const recentFromMs = first === undefined ? nowMs : Math.max(nowMs - RECENT_MS, Date.parse(first.date));
  return {
    soFar: totalOf(sum({ fromMs: beginMs, toMs: nowMs })),
    recent: {
      tally: totalOf(recent),
      seconds: Math.max(LEAST_KNOWN_SECONDS, (nowMs - recentFromMs) / 1000),
    },
    leftSeconds: (endMs - nowMs) / 1000,
  };
}

import type { Costs } from "../../config/costs.schema.ts";
import type { Charged } from "../../crds/usage/allocations.ts";
import type { Totals } from "../../crds/usage/period-summary.ts";
import { amountOf, apportioned, priceOf, totalPriceOf } from "../../crds/usage/price.ts";
import { toPeriod } from "../schemas/period.ts";
import { type CostReport, isKnown } from "./report.ts";
import type { Basis, Budget, CostCoverage, CostSummary } from "./schemas.ts";

/** Whole in cents; `null` when none of it is known. */
export const wholeCents = (totals: Totals, costs: Costs): number | null =>
  isKnown(totals) ? Math.round(totalPriceOf(totals, costs)) : null;

export const amountOrNull = (cents: number | null) => (cents === null ? null : amountOf(cents));
const hundredths = (value: number) => Math.round(value * 100) / 100;

export function toCostSummary({ summary, previous, environments, month }: CostReport, costs: Costs): CostSummary {
  const { total } = summary.whole;
  const cents = wholeCents(total, costs);
  const { cpu, memory, storage, other } = priceOf(total, costs);
  const parts = cents === null ? [] : apportioned(cents, [cpu, memory, storage, other]);
  const [cpuCents = null, memoryCents = null, storageCents = null, otherCents = null] = parts;
  const before = wholeCents(previous, costs);
  return {
    currency: costs.currency,
    window: toPeriod(summary.period),
    total_cost: amountOrNull(cents),
    total_cents: cents,
    by_resource: {
      cpu: amountOrNull(cpuCents),
      memory: amountOrNull(memoryCents),
      storage: amountOrNull(storageCents),
      other: amountOrNull(otherCents),
    },
    active_environments: environments.active,
    average_cost_per_environment:
      cents === null || environments.all === 0 ? null : amountOf(Math.round(cents / environments.all)),
    projected_month: amountOrNull(projectedCents({ month }, costs)),
    previous_window: {
      total_cost: amountOrNull(before),
      change_percent: cents === null || !before ? null : hundredths(((cents - before) / before) * 100),
    },
    ...costBasis(total),
  };
}

export function toBudget(report: CostReport, costs: Costs): Budget {
  const used = wholeCents(report.month.soFar, costs);
  const { monthlyBudget: limit } = costs;
  if (limit === undefined) return { limit: null, used: amountOrNull(used), used_percent: null, state: "none" };
  if (used === null) return { limit, used: null, used_percent: null, state: "unknown" };
  const isAtRisk = (projectedCents(report, costs) ?? 0) > limit * 100;
  const state = used > limit * 100 ? "exceeded" : isAtRisk ? "at_risk" : "ok";
  return { limit, used: amountOf(used), used_percent: hundredths(used / limit), state };
}

/** Costs so far, and the rest of the month like the last days; `null` without data. */
export function projectedCents({ month }: Pick<CostReport, "month">, costs: Costs): number | null {
  const { soFar, recent, leftSeconds } = month;
  if (!isKnown(soFar) || !isKnown(recent.totals)) return null;
  const perSecond = totalPriceOf(recent.totals, costs) / recent.seconds;
  return Math.round(totalPriceOf(soFar, costs) + perSecond * leftSeconds);
}

/** Source of the costs, and their known share of time. */
export function costBasis(totals: Totals): { readonly basis: Basis; readonly coverage: CostCoverage } {
  const { thereSeconds, knownSeconds, allocatedSeconds } = totals;
  const percent = (seconds: number) =>
    thereSeconds === 0 ? null : Math.round((seconds / thereSeconds) * 10_000) / 100;
  return {
    basis: basisOf(totals),
    coverage: { known_percent: percent(knownSeconds), allocated_percent: percent(allocatedSeconds) },
  };
}

function basisOf({ allocatedSeconds, knownSeconds }: Charged): Basis {
  if (allocatedSeconds === 0) return "requests";
  return allocatedSeconds === knownSeconds ? "opencost" : "mixed";
}

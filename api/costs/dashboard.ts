import type { Costs } from "../../config/costs.schema.ts";
import { type Dimension, type Totals, totalsOf } from "../../crds/usage/period-summary.ts";
import { amountOf, apportioned, totalPriceOf } from "../../crds/usage/price.ts";
import { pointsOf } from "../../crds/usage/summarizer.ts";
import type { UsageRecord } from "../../crds/usage/usage-record.ts";
import { type Caller, visibleTo } from "../auth/access.ts";
import { greatestFirst, namedRows, type ReportServices } from "../observability/named-rows.ts";
import type { Interval } from "../schemas/period.ts";
import { type CostReport, dearestFirst, type EnvironmentPrice, isKnown } from "./report.ts";
import type { CostDashboard, CostRow } from "./schemas.ts";
import { amountOrNull, costBasis, toBudget, toCostSummary, wholeCents } from "./views.ts";

const MOST_ENVIRONMENTS = 10;

export function toCostDashboard(
  { report, interval }: { readonly report: CostReport; readonly interval: Interval | undefined },
  caller: Caller,
  services: ReportServices,
): CostDashboard {
  const { costs } = services.settings;
  const { whole } = report.summary;
  const points = pointsOf(report.summary.days, interval);
  const parts = points.map(({ summary }) => ({ totals: summary.total }));
  const shares = shared(wholeCents(whole.total, costs), parts, costs);
  const rowsOf = (dimension: Dimension) => costRows(report, dimension, caller, services);
  return {
    summary: toCostSummary(report, costs),
    timeseries: points.map(({ date, summary }, index) => ({ date, ...sumOfMoney(summary.total, shares[index]) })),
    top_environments: topEnvironments(report, caller),
    by_repository: rowsOf("repository"),
    by_creator: rowsOf("creator"),
    by_config_set: rowsOf("config_set"),
    budget: toBudget(report, costs),
  };
}

/** Costs by a common property, with the names that the caller may see; they add up to the whole. */
export function costRows(
  report: CostReport,
  dimension: Dimension,
  caller: Caller,
  services: ReportServices,
): CostRow[] {
  const { costs } = services.settings;
  const { total, by } = report.summary.whole;
  const rows = namedRows(by[dimension], dimension, caller, services);
  const shares = shared(wholeCents(total, costs), rows, costs);
  const priced = rows.map(({ id, kind, totals }, index) => ({
    id,
    kind,
    ...sumOfMoney(totals, shares[index]),
    created: totals.created,
    ...costBasis(totals),
  }));
  return greatestFirst(priced, ({ total_cents }) => total_cents ?? 0);
}

/** Unknown costs are null, never zero. */
function sumOfMoney(totals: Totals, share: number | undefined) {
  const cents = isKnown(totals) ? (share ?? null) : null;
  return { total_cost: amountOrNull(cents), total_cents: cents };
}

function shared(cents: number | null, rows: readonly { readonly totals: Totals }[], costs: Costs): readonly number[] {
  if (cents === null) return [];
  return apportioned(
    cents,
    rows.map(({ totals }) => totalPriceOf(totals, costs)),
  );
}

/** Most expensive environments that the caller may see. */
function topEnvironments({ summary, now, prices }: CostReport, caller: Caller) {
  const isVisible = visibleTo(caller);
  const top: EnvironmentPrice[] = [];
  // There may be tens of thousands, and ten are shown.
  for (const sorted of prices) {
    for (const one of sorted()) {
      const last = top[MOST_ENVIRONMENTS - 1];
      if (last !== undefined && dearestFirst(one, last) >= 0) break;
      if (!isVisible(one.rights)) continue;
      top.push(one);
      top.sort(dearestFirst);
      top.length = Math.min(top.length, MOST_ENVIRONMENTS);
    }
  }
  return top.map(({ record, price }) =>
    toCostOfEnvironment(record, totalsOf(record, summary.period, now.getTime()), Math.round(price)),
  );
}

function toCostOfEnvironment({ uid, name, phase, repository }: UsageRecord, totals: Totals, cents: number) {
  return {
    id: uid,
    name,
    status: phase ?? null,
    repository: repository ?? null,
    total_cost: amountOf(cents),
    total_cents: cents,
    ...costBasis(totals),
  };
}

import type { Settings } from "../../config/settings.ts";
import type { Dimension } from "../../crds/usage/period-summary.ts";
import { amountOf, priceOfHour } from "../../crds/usage/price.ts";
import { byName, type UsageRecord } from "../../crds/usage/usage-record.ts";
import { type Caller, visibleTo } from "../auth/access.ts";
import { costRows } from "../costs/dashboard.ts";
import type { CostReport } from "../costs/report.ts";
import { amountOrNull, costBasis, projectedCents, toBudget } from "../costs/views.ts";
import type { UsageSum } from "../observability/memo.ts";
import { type ReportServices, rightsTo } from "../observability/named-rows.ts";
import { toPeriod } from "../schemas/period.ts";
import { type CostAnalysis, WASTE_REASONS } from "./schemas.ts";
import { hoursAhead, WASTE_RULES } from "./waste-rules.ts";

type Recommendation = CostAnalysis["recommendations"][number];

interface Recommended {
  readonly record: UsageRecord;
  readonly recommendation: Recommendation;
}

/** Recommendations for environments that could cost less, the greatest saving first; the same for every caller. */
export function recommendationsFor(settings: Settings): UsageSum<readonly Recommended[], readonly Recommended[]> {
  return {
    ofPart: (records, now) =>
      records.flatMap((record) => {
        const recommendation = recommendationFor(record, now.getTime(), settings);
        return recommendation === undefined ? [] : [{ record, recommendation }];
      }),
    whole: (parts) => parts.flat().sort(greatestSavingFirst),
  };
}

const greatestSavingFirst = (one: Recommended, other: Recommended) =>
  other.recommendation.saving_cents - one.recommendation.saving_cents || byName(one.record, other.record);

function recommendationFor(record: UsageRecord, nowMs: number, { costs }: Settings): Recommendation | undefined {
  const requested = record.usage?.at(-1);
  const rule = WASTE_RULES.find((one) => one.applies(record, nowMs));
  if (requested === undefined || rule === undefined) return undefined;
  const cents = Math.round(rule.savedCents(priceOfHour(requested, costs), hoursAhead(record, nowMs)));
  // Nothing to save.
  if (cents === 0) return undefined;
  return {
    environment: { id: record.uid, name: record.name },
    reason: rule.reason,
    action: rule.action,
    message: rule.message(record, nowMs),
    saving: amountOf(cents),
    saving_cents: cents,
  };
}

interface Requested {
  readonly report: CostReport;
  readonly recommendations: readonly Recommended[];
  readonly dimension: Dimension;
}

/** Costs by a common property, and possible savings. */
export function toCostAnalysis(
  { report, recommendations, dimension }: Requested,
  caller: Caller,
  services: ReportServices,
): CostAnalysis {
  const { costs } = services.settings;
  const isVisible = visibleTo(caller);
  const visible = recommendations
    .filter(({ record }) => isVisible(rightsTo(record)))
    .map(({ recommendation }) => recommendation);
  const cents = visible.reduce((sum, { saving_cents }) => sum + saving_cents, 0);
  const byReason = WASTE_REASONS.map((reason) => [reason, visible.filter((one) => one.reason === reason).length]);
  return {
    period: toPeriod(report.summary.period),
    currency: costs.currency,
    ...costBasis(report.summary.whole.total),
    group_by: dimension,
    groups: costRows(report, dimension, caller, services),
    waste: {
      environments: visible.length,
      saving: amountOf(cents),
      saving_cents: cents,
      by_reason: Object.fromEntries(byReason) as CostAnalysis["waste"]["by_reason"],
    },
    forecast: { projected_month: amountOrNull(projectedCents(report, costs)), budget: toBudget(report, costs) },
    recommendations: visible.slice(0, MOST_RECOMMENDED),
  };
}

const MOST_RECOMMENDED = 100;

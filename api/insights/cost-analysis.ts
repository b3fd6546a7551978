import type { Life } from "../../crds/environment/life.ts";
import type { Dimension } from "../../operator/ports/observability/summary.ts";
import { type Caller, visibleTo } from "../auth/access.ts";
import { costBasis } from "../costs/coverage.ts";
import { costRows } from "../costs/dashboard.ts";
import type { CostFigures } from "../costs/figures.ts";
import { amountOf, priceOfHour } from "../costs/price.ts";
import { amountOrNull, projectedCents, toBudget } from "../costs/views.ts";
import { rightsTo } from "../observability/named-rows.ts";
import { toPeriod } from "../schemas/period.ts";
import type { Services } from "../services.ts";
import { type CostAnalysis, WASTE_REASONS } from "./schemas.ts";
import { hoursAhead, WASTE_RULES } from "./waste-rules.ts";

type Recommendation = CostAnalysis["recommendations"][number];
type Used = Pick<Services, "settings" | "repositories" | "configSets">;

/** Recommendations for environments that could cost less, the greatest saving first; the same for every caller. */
export function recommended(lives: readonly Life[], now: Date, { settings }: Pick<Services, "settings">) {
  const nowMs = now.getTime();
  const found = lives.flatMap((life) => {
    const recommendation = recommendationFor(life, nowMs, settings);
    return recommendation === undefined ? [] : [{ life, recommendation }];
  });
  return found.sort((one, other) => other.recommendation.saving_cents - one.recommendation.saving_cents);
}

function recommendationFor(life: Life, nowMs: number, { costs }: Services["settings"]): Recommendation | undefined {
  const requested = life.usage?.at(-1);
  const rule = WASTE_RULES.find((one) => one.applies(life, nowMs));
  if (requested === undefined || rule === undefined) return undefined;
  const cents = Math.round(rule.savedCents(priceOfHour(requested, costs), hoursAhead(life, nowMs)));
  // Nothing to save.
  if (cents === 0) return undefined;
  return {
    environment: { id: life.uid, name: life.name },
    reason: rule.reason,
    action: rule.action,
    message: rule.message(life, nowMs),
    saving: amountOf(cents),
    saving_cents: cents,
  };
}

interface Requested {
  readonly figures: CostFigures;
  readonly found: ReturnType<typeof recommended>;
  readonly dimension: Dimension;
}

/** Costs by a common property, and possible savings. */
export function toCostAnalysis({ figures, found, dimension }: Requested, caller: Caller, services: Used): CostAnalysis {
  const { costs } = services.settings;
  const isVisible = visibleTo(caller);
  const recommendations = found
    .filter(({ life }) => isVisible(rightsTo(life)))
    .map(({ recommendation }) => recommendation);
  const cents = recommendations.reduce((sum, { saving_cents }) => sum + saving_cents, 0);
  const byReason = WASTE_REASONS.map((reason) => [
    reason,
    recommendations.filter((one) => one.reason === reason).length,
  ]);
  return {
    period: toPeriod(figures.summary.period),
    currency: costs.currency,
    ...costBasis(figures.summary.whole.total),
    group_by: dimension,
    groups: costRows(figures, dimension, caller, services),
    waste: {
      environments: recommendations.length,
      saving: amountOf(cents),
      saving_cents: cents,
      by_reason: Object.fromEntries(byReason) as CostAnalysis["waste"]["by_reason"],
    },
    forecast: { projected_month: amountOrNull(projectedCents(figures, costs)), budget: toBudget(figures, costs) },
    recommendations: recommendations.slice(0, MOST_RECOMMENDED),
  };
}

const MOST_RECOMMENDED = 100;

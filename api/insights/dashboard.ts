import { NONE, OTHERS, type Rows } from "../../crds/usage/period-summary.ts";
import { pointsOf } from "../../crds/usage/summarizer.ts";
import type { Caller } from "../auth/access.ts";
import type { CostReport } from "../costs/report.ts";
import { amountOrNull, costBasis, wholeCents } from "../costs/views.ts";
import { namedRows, type ReportServices } from "../observability/named-rows.ts";
import { type Interval, toPeriod } from "../schemas/period.ts";
import { averageLifetimeHours, averageProvisionSeconds, successRate } from "./ratios.ts";
import type { InsightsDashboard } from "./schemas.ts";

const MOST_REPOSITORIES = 10;

/** Figures, and the interval between points of their series. */
export interface SeriesOf {
  readonly report: CostReport;
  readonly interval: Interval | undefined;
}

/** Statistics of environments in the period. */
export function toInsightsDashboard(
  { report, interval }: SeriesOf,
  caller: Caller,
  services: ReportServices,
): InsightsDashboard {
  const { summary, environments } = report;
  const { total, by, peak } = summary.whole;
  const { costs } = services.settings;
  const cents = wholeCents(total, costs);
  const { basis, coverage } = costBasis(total);
  const { created, deleted, expired, failed } = total;
  return {
    period: toPeriod(summary.period),
    environments: { created, deleted: deleted - expired, expired, failed, active: environments.active },
    success_rate: successRate(total),
    average_lifetime_hours: averageLifetimeHours(total),
    average_provision_seconds: averageProvisionSeconds(total),
    peak_concurrent: peak,
    active_users: activeUsersIn(by.creator),
    total_cost: amountOrNull(cents),
    total_cost_cents: cents,
    currency: costs.currency,
    cost_basis: basis,
    cost_coverage: coverage,
    top_repositories: topRepositories(by.repository, caller, services),
    trends: pointsOf(summary.days, interval).map(({ date, summary: { total: ofDay } }) => ({
      date,
      created: ofDay.created,
      deleted: ofDay.deleted,
      failed: ofDay.failed,
    })),
  };
}

/** Number of creators: every caller sees it, but not the people. */
export function activeUsersIn(creators: Rows): number {
  return [...creators].filter(([name, { created }]) => name !== NONE && name !== OTHERS && created > 0).length;
}

function topRepositories(rows: Rows, caller: Caller, services: ReportServices) {
  return namedRows(rows, "repository", caller, services)
    .flatMap(({ id, totals }) => (id === null || totals.created === 0 ? [] : [{ id, environments: totals.created }]))
    .sort((one, other) => other.environments - one.environments || one.id.localeCompare(other.id))
    .slice(0, MOST_REPOSITORIES);
}

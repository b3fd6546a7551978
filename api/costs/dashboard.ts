import type { Costs } from "../../config/costs.schema.ts";
import { type Dimension, type Tally, tallyOf } from "../../crds/usage/period-summary.ts";
import { amountOf, apportioned, totalPriceOf } from "../../crds/usage/price.ts";
import { pointsOf } from "../../crds/usage/summarizer.ts";
import type { Life } from "../../crds/usage/usage-record.ts";
import { type Caller, visibleTo } from "../auth/access.ts";
import { greatestFirst, namedRows, rightsTo } from "../observability/named-rows.ts";
import type { Interval } from "../schemas/period.ts";
import type { Services } from "../services.ts";
import { costBasis } from "./coverage.ts";
import { type CostFigures, isKnown, type Priced } from "./report.ts";
import type { CostDashboard, CostRow } from "./schemas.ts";
import { amountOrNull, toBudget, toCostSummary, wholeCents } from "./views.ts";

const MOST_ENVIRONMENTS = 10;

type Used = Pick<Services, "repositories" | "configSets" | "settings">;

export function toCostDashboard(
  { figures, interval }: { readonly figures: CostFigures; readonly interval: Interval | undefined },
  caller: Caller,
  services: Used,
): CostDashboard {
  const { costs } = services.settings;
  const { whole } = figures.summary;
  const points = pointsOf(figures.summary.days, interval);
  const parts = points.map(({ summary }) => ({ tally: summary.total }));
  const shares = shared(wholeCents(whole.total, costs), parts, costs);
  const rowsOf = (dimension: Dimension) => costRows(figures, dimension, caller, services);
  return {
    summary: toCostSummary(figures, costs),
    timeseries: points.map(({ date, summary }, index) => ({ date, ...sumOfMoney(summary.total, shares[index]) })),
    top_environments: topEnvironments(figures, caller),
    by_repository: rowsOf("repository"),
    by_creator: rowsOf("creator"),
    by_config_set: rowsOf("config_set"),
    budget: toBudget(figures, costs),
  };
}

/** Costs by a common property, with the names that the caller may see; they add up to the whole. */
export function costRows(figures: CostFigures, dimension: Dimension, caller: Caller, services: Used): CostRow[] {
  const { costs } = services.settings;
  const { total, by } = figures.summary.whole;
  const rows = namedRows(by[dimension], dimension, caller, services);
  const shares = shared(wholeCents(total, costs), rows, costs);
  const priced = rows.map(({ id, kind, tally }, index) => ({
    id,
    kind,
    ...sumOfMoney(tally, shares[index]),
    created: tally.created,
    ...costBasis(tally),
  }));
  return greatestFirst(priced, ({ total_cents }) => total_cents ?? 0);
}

/** Unknown costs are null, never zero. */
function sumOfMoney(tally: Tally, share: number | undefined) {
  const cents = isKnown(tally) ? (share ?? null) : null;
  return { total_cost: amountOrNull(cents), total_cents: cents };
}

function shared(cents: number | null, rows: readonly { readonly tally: Tally }[], costs: Costs): readonly number[] {
  if (cents === null) return [];
  return apportioned(
    cents,
    rows.map(({ tally }) => totalPriceOf(tally, costs)),
  );
}

/** Most expensive environments that the caller may see. */
function topEnvironments({ summary, now, priced }: CostFigures, caller: Caller) {
  const isVisible = visibleTo(caller);
  const top: Priced[] = [];
  // One pass: there may be tens of thousands, and ten are shown.
  for (const one of priced()) {
    const last = top[MOST_ENVIRONMENTS - 1];
    if ((last === undefined || dearestFirst(one, last) < 0) && isVisible(rightsTo(one.life))) {
      top.push(one);
      top.sort(dearestFirst);
      top.length = Math.min(top.length, MOST_ENVIRONMENTS);
    }
  }
  return top.map(({ life, price }) =>
    toCostOfEnvironment(life, tallyOf(life, summary.period, now.getTime()), Math.round(price)),
  );
}

const dearestFirst = (one: Priced, other: Priced) =>
  other.price - one.price || one.life.name.localeCompare(other.life.name);

function toCostOfEnvironment({ uid, name, phase, repository }: Life, tally: Tally, cents: number) {
  return {
    id: uid,
    name,
    status: phase ?? null,
    repository: repository ?? null,
    total_cost: amountOf(cents),
    total_cents: cents,
    ...costBasis(tally),
  };
}

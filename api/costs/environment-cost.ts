import { HOUR_MS } from "../../crds/durations.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { deletableFrom, ttlHours } from "../../crds/environment/lifetime.ts";
import { totalsOf } from "../../crds/usage/period-summary.ts";
import { amountOf, priceOfHour, sumOfCents, totalPriceOf } from "../../crds/usage/price.ts";
import { usageOfEnvironment } from "../../crds/usage/usage-record.ts";
import type { Services } from "../services.ts";
import type { EnvironmentCostReport } from "./schemas.ts";
import { costBasis } from "./views.ts";

/** Cost of an environment: expected, so far, and until its expiry. */
export function toEnvironmentCost(environment: EphemeralEnvironment, services: Services): EnvironmentCostReport {
  const { costs } = services.settings;
  const nowMs = services.clock.now().getTime();
  const record = usageOfEnvironment(environment);
  const totals = totalsOf(record, { fromMs: record.createdMs, toMs: nowMs + 1 }, nowMs);
  const isKnown = record.usage !== undefined || record.allocations !== undefined;
  const cents = isKnown ? totalPriceOf(totals, costs) : undefined;
  const last = record.usage?.at(-1);
  const perHour = last && sumOfCents(priceOfHour(last, costs));
  const leftHours = leftHoursOf(environment, nowMs);
  const estimate = services.hourlyRates().get(record.repository ?? "");
  const isForeseeable = cents !== undefined && perHour !== undefined && leftHours !== undefined;
  return {
    currency: costs.currency,
    estimate: rounded(estimate && estimate * ttlHours(environment)),
    actual: rounded(cents),
    per_hour: perHour === undefined ? null : Number((perHour / 100).toFixed(6)),
    forecast: rounded(isForeseeable ? cents + perHour * leftHours : undefined),
    since: record.usage?.[0]?.since ?? null,
    ...costBasis(totals),
  };
}

const rounded = (cents: number | undefined) => (cents === undefined ? null : amountOf(Math.round(cents)));

/** `undefined` when it never expires. */
function leftHoursOf(environment: EphemeralEnvironment, nowMs: number): number | undefined {
  const due = deletableFrom(environment);
  return due && Math.max(0, due.getTime() - nowMs) / HOUR_MS;
}

import { HOUR_MS } from "../../crds/durations.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { lifeOfEnvironment } from "../../crds/environment/life.ts";
import { deletableFrom, ttlHours } from "../../crds/environment/lifetime.ts";
import { tallyOf } from "../../operator/ports/observability/summary.ts";
import type { Services } from "../services.ts";
import { costBasis } from "./coverage.ts";
import { amountOf, priceOfHour, sumOfCents, totalPriceOf } from "./price.ts";
import type { EnvironmentCostReport } from "./schemas.ts";

type Used = Pick<Services, "settings" | "hourlyRates" | "clock">;

/** Cost of an environment: expected, so far, and until its expiry. */
export function toEnvironmentCost(environment: EphemeralEnvironment, services: Used): EnvironmentCostReport {
  const { costs } = services.settings;
  const nowMs = services.clock.now().getTime();
  const life = lifeOfEnvironment(environment);
  const tally = tallyOf(life, { fromMs: life.createdMs, toMs: nowMs + 1 }, nowMs);
  const isKnown = life.usage !== undefined || life.allocations !== undefined;
  const cents = isKnown ? totalPriceOf(tally, costs) : undefined;
  const last = life.usage?.at(-1);
  const perHour = last && sumOfCents(priceOfHour(last, costs));
  const leftHours = leftHoursOf(environment, nowMs);
  const estimate = services.hourlyRates().get(life.repository ?? "");
  const isForeseeable = cents !== undefined && perHour !== undefined && leftHours !== undefined;
  return {
    currency: costs.currency,
    estimate: rounded(estimate && estimate * ttlHours(environment)),
    actual: rounded(cents),
    per_hour: perHour === undefined ? null : Number((perHour / 100).toFixed(6)),
    forecast: rounded(isForeseeable ? cents + perHour * leftHours : undefined),
    since: life.usage?.[0]?.since ?? null,
    ...costBasis(tally),
  };
}

const rounded = (cents: number | undefined) => (cents === undefined ? null : amountOf(Math.round(cents)));

/** `undefined` when it never expires. */
function leftHoursOf(environment: EphemeralEnvironment, nowMs: number): number | undefined {
  const due = deletableFrom(environment);
  return due && Math.max(0, due.getTime() - nowMs) / HOUR_MS;
}

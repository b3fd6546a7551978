import type { Settings } from "../../config/settings.ts";
import { totalPriceOf } from "../../crds/usage/price.ts";
import { summarize, type UsageSources } from "../../crds/usage/summarizer.ts";
import type { Clock } from "../../operator/kit/time/clock.ts";

const HOUR_S = 3_600;
/** Time for the average. */
const COMPARED_MS = 30 * 24 * HOUR_S * 1000;
/** Lifetime of the averages: they change slowly, and every environment's detail needs them. */
const KEPT_MS = 600_000;

/** Average cost of an environment's hour, in cents, by the backend's repository. */
export type HourlyRates = () => ReadonlyMap<string, number>;

interface Used extends UsageSources {
  readonly settings: Settings;
  readonly clock: Clock;
}

/** Omits a repository without a known hour. */
export function createHourlyRates(services: Used): HourlyRates {
  let known: { readonly atMs: number; readonly rates: ReadonlyMap<string, number> } | undefined;
  return () => {
    const now = services.clock.now();
    const toMs = now.getTime();
    if (known === undefined || toMs - known.atMs >= KEPT_MS) known = { atMs: toMs, rates: ratesAt(now, services) };
    return known.rates;
  };
}

function ratesAt(now: Date, services: Used): ReadonlyMap<string, number> {
  const toMs = now.getTime();
  const { whole } = summarize({ fromMs: toMs - COMPARED_MS, toMs }, now, services);
  const compared = [...whole.by.repository].filter(([, { knownSeconds }]) => knownSeconds >= HOUR_S);
  const { costs } = services.settings;
  return new Map(compared.map(([id, totals]) => [id, (totalPriceOf(totals, costs) / totals.knownSeconds) * HOUR_S]));
}

import type { Settings } from "../../config/settings.ts";
import { totalPriceOf } from "../../crds/usage/price.ts";
import type { StoredDays } from "../../crds/usage/summarizer.ts";
import type { Clock } from "../../operator/kit/time/clock.ts";
import type { Memo } from "../observability/memo.ts";
import { costReportOf } from "./report.ts";

const HOUR_S = 3_600;
/** Time for the average: dashboards that say no other one have the same report. */
const COMPARED = {};
/** Lifetime of the averages: they change slowly, and every environment's detail needs them. */
const KEPT_MS = 600_000;

/** Average cost of an environment's hour, in cents, by the backend's repository. */
export type HourlyRates = () => ReadonlyMap<string, number>;

interface Used {
  readonly memo: Memo;
  readonly settings: Settings;
  readonly rollups: StoredDays;
  readonly clock: Clock;
}

/** Omits a repository without a known hour. */
export function createHourlyRates(services: Used): HourlyRates {
  let known: { readonly atMs: number; readonly rates: ReadonlyMap<string, number> } | undefined;
  return () => {
    const toMs = services.clock.now().getTime();
    if (known === undefined || toMs - known.atMs >= KEPT_MS) known = { atMs: toMs, rates: currentRates(services) };
    return known.rates;
  };
}

function currentRates(services: Used): ReadonlyMap<string, number> {
  const { whole } = costReportOf(COMPARED, services).summary;
  const compared = [...whole.by.repository].filter(([, { knownSeconds }]) => knownSeconds >= HOUR_S);
  const { costs } = services.settings;
  return new Map(compared.map(([id, totals]) => [id, (totalPriceOf(totals, costs) / totals.knownSeconds) * HOUR_S]));
}

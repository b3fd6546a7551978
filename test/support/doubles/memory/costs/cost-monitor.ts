import { HOUR_MS } from "../../../../../crds/durations.ts";
import { type AllocatedCost, sumOfCosts } from "../../../../../crds/usage/allocations.ts";
import type { Period } from "../../../../../crds/usage/period-summary.ts";
import { type CostMonitor, CostMonitorUnavailable } from "../../../../../operator/ports/cost-monitor.ts";

/** The costs of a namespace in an hour. */
export interface HourOfNamespace {
  readonly namespace: string;
  /** Begin of the hour. */
  readonly at: string;
  readonly cost: AllocatedCost;
}

export interface MemoryCostMonitor extends CostMonitor {
  /** Requested periods, such as `2026-06-01T12:00:00.000Z/2026-06-01T13:00:00.000Z`. */
  readonly requested: readonly string[];
  knows(...hours: readonly HourOfNamespace[]): void;
  /** Makes the matching periods fail from now on. */
  fails(isMeant: (period: Period) => boolean): void;
}

/** An in-memory cost monitor; fulfils `costMonitorSuite`. */
export function memoryCostMonitor(): MemoryCostMonitor {
  const known: HourOfNamespace[] = [];
  const requests: string[] = [];
  let isMeant = (_: Period) => false;
  return {
    requested: requests,
    knows: (...hours) => void known.push(...hours),
    fails(which) {
      isMeant = which;
    },
    async byNamespace(period, signal) {
      signal.throwIfAborted();
      requests.push(`${new Date(period.fromMs).toISOString()}/${new Date(period.toMs).toISOString()}`);
      if (isMeant(period)) throw new CostMonitorUnavailable("it does not answer");
      return sumOf(known.filter(({ at }) => isIn(period, Date.parse(at))));
    },
    close: async () => undefined,
  };
}

const isIn = ({ fromMs, toMs }: Period, beginMs: number) => beginMs >= fromMs && beginMs + HOUR_MS <= toMs;

function sumOf(hours: readonly HourOfNamespace[]): ReadonlyMap<string, AllocatedCost> {
  const sums = new Map<string, AllocatedCost>();
  for (const { namespace, cost } of hours) {
    const sum = sums.get(namespace);
    sums.set(namespace, sum === undefined ? cost : sumOfCosts(sum, cost));
  }
  return sums;
}

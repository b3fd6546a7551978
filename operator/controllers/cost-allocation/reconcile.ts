import type { Settings } from "../../../config/settings.ts";
import { DAY_MS, HOUR_MS } from "../../../crds/durations.ts";
import { namespaceName } from "../../../crds/names.ts";
import { type Allocation, isAllocated } from "../../../crds/usage/allocations.ts";
import { midnightOf, type Period } from "../../../crds/usage/period-summary.ts";
import type { Reconcile } from "../../kit/controller/controller.ts";
import type { Clock } from "../../kit/time/clock.ts";
import { eachOf } from "../../kit/time/each-of.ts";
import { yieldIfDue } from "../../kit/time/yield-if-due.ts";
import { type CostMonitor, CostMonitorUnavailable } from "../../ports/cost-monitor.ts";
import {
  type Account,
  type AccountDependencies,
  accountsSince,
  soleOwners,
  type WrittenAllocations,
} from "./accounts.ts";

/** The settings and ports of the allocation of costs. */
export interface CostAllocationDependencies extends AccountDependencies {
  readonly settings: Pick<Settings, "costs">;
  readonly clock: Clock;
  /** `undefined` where the settings name no cost monitor. */
  readonly costMonitor: CostMonitor | undefined;
}

/** Delay until Prometheus has all samples of a period. */
const SAMPLES_DELAY_MS = 600_000;
/** Today, and days with provisional sums: see `operator/rollups/daily-summaries.ts`. */
const ALLOCATED_DAYS = 3;
/** A monitor that fails for one period may answer for another. */
const MOST_FAILURES = 2;
const WRITES_AT_ONCE = 8;

interface Run {
  readonly failures: CostMonitorUnavailable[];
  readonly written: WrittenAllocations;
  readonly signal: AbortSignal;
}

/**
 * Asks the cost monitor what each environment cost, as soon as a time of the settings' resolution is over, and stores
 * the answer with the environment. A stored answer is never requested again, so any replica may run it at any time.
 */
export function createCostReconciler({
  costMonitor,
  settings,
  clock,
  ...context
}: CostAllocationDependencies): Reconcile {
  if (costMonitor === undefined) return async () => {};
  const resolutionMs = (settings.costs.openCost?.resolutionHours ?? 1) * HOUR_MS;
  /** UIDs unknown to the monitor, by the start of the period: not read again. */
  const unknown = new Map<number, Set<string>>();

  const allocationsIn = async (period: Period, accounts: readonly Account[], signal: AbortSignal) => {
    const unknownUids = unknown.get(period.fromMs) ?? new Set<string>();
    unknown.set(period.fromMs, unknownUids);
    const nowMs = clock.now().getTime();
    const isMissing = (one: Account) =>
      (one.goneMs ?? nowMs) - one.createdMs >= resolutionMs && !unknownUids.has(one.uid) && !isStored(one, period);
    const missing = soleOwners(accounts, period).filter(isMissing);
    if (missing.length === 0) return [];
    const costs = await costMonitor.byNamespace(period, signal);
    return missing.flatMap((account) => {
      const cost = costs.get(namespaceName(account.name));
      if (cost === undefined) unknownUids.add(account.uid);
      return cost === undefined ? [] : [{ account, allocation: { ...instantsOf(lifeIn(account, period)), ...cost } }];
    });
  };

  const allocateDay = async (dayMs: number, { failures, written, signal }: Run) => {
    const accounts = accountsSince(dayMs, written, context);
    const added = new Map<Account, Allocation[]>();
    for (const period of periodsOf(dayMs, resolutionMs, clock.now().getTime())) {
      if (failures.length === MOST_FAILURES) break;
      await yieldIfDue();
      const allocations = await allocationsIn(period, accounts, signal).catch((error: unknown) => {
        if (!(error instanceof CostMonitorUnavailable)) throw error;
        failures.push(error);
        return [];
      });
      for (const { account, allocation } of allocations)
        added.set(account, [...(added.get(account) ?? []), allocation]);
    }
    await eachOf(WRITES_AT_ONCE, [...added], ([account, allocations]) => account.store(allocations));
  };

  return async (_key, { signal }) => {
    const nowMs = clock.now().getTime();
    const firstMs = midnightOf(nowMs) - (ALLOCATED_DAYS - 1) * DAY_MS;
    for (const fromMs of unknown.keys()) if (fromMs < firstMs) unknown.delete(fromMs);
    const run: Run = { failures: [], written: new Map(), signal };
    // Day by day: results do not wait for the rest.
    for (let dayMs = midnightOf(nowMs); dayMs >= firstMs; dayMs -= DAY_MS) {
      signal.throwIfAborted();
      await allocateDay(dayMs, run);
    }
    if (run.failures[0] !== undefined) throw run.failures[0];
    return { requeueAfterMs: nextDueMs(nowMs, resolutionMs) - nowMs };
  };
}

/** Periods of the day that are over, the latest first. */
function periodsOf(dayMs: number, resolutionMs: number, nowMs: number): readonly Period[] {
  const begins = Array.from({ length: DAY_MS / resolutionMs }, (_, index) => dayMs + index * resolutionMs);
  const periods = begins.map((fromMs) => ({ fromMs, toMs: fromMs + resolutionMs }));
  return periods.filter(({ toMs }) => toMs + SAMPLES_DELAY_MS <= nowMs).reverse();
}

/** Time at which the next period can be requested. */
function nextDueMs(nowMs: number, resolutionMs: number): number {
  return (Math.floor((nowMs - SAMPLES_DELAY_MS) / resolutionMs) + 1) * resolutionMs + SAMPLES_DELAY_MS;
}

function lifeIn({ createdMs, goneMs = Number.POSITIVE_INFINITY }: Account, { fromMs, toMs }: Period): Period {
  return { fromMs: Math.max(fromMs, createdMs), toMs: Math.min(toMs, goneMs) };
}

function isStored(account: Account, period: Period): boolean {
  const { fromMs, toMs } = lifeIn(account, period);
  return isAllocated(account.allocations, fromMs, toMs);
}

const instantsOf = ({ fromMs, toMs }: Period) => ({
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
});

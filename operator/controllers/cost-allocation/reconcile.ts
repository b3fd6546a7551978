import type { Settings } from "../../../config/settings.ts";
import { DAY_MS, HOUR_MS } from "../../../crds/durations.ts";
import { type Allocation, isAllocated } from "../../../crds/environment/costs/allocations.ts";
import { namespaceName } from "../../../crds/names.ts";
import type { Reconcile, ReconcileResult } from "../../kit/controller/controller.ts";
import { eachOf } from "../../kit/time/each-of.ts";
import { yieldIfDue } from "../../kit/time/yield-if-due.ts";
import type { Clock } from "../../ports/clock.ts";
import { type Allocations, AllocationsUnavailable } from "../../ports/observability/allocations.ts";
import { midnightOf, type Period } from "../../ports/observability/summary.ts";
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
  readonly allocations: Allocations | undefined;
}

/** Delay until Prometheus has all samples of a period. */
const SETTLED_MS = 600_000;
/** Today, and days with provisional sums: see `operator/rollups/daily-summaries.ts`. */
const ASKED_DAYS = 3;
/** A monitor that fails for one period may answer for another. */
const MOST_FAILURES = 2;
const WRITES_AT_ONCE = 8;

/**
 * Asks the cost monitor what each environment cost, as soon as a time of the settings' resolution is over, and keeps the
 * answer with the environment. What is kept is never asked for again, so it does not matter when it runs, or where.
 */
export function createCostReconciler(dependencies: CostAllocationDependencies): Reconcile {
  const { allocations, settings } = dependencies;
  const resolutionMs = (settings.costs.openCost?.resolutionHours ?? 1) * HOUR_MS;
  return allocations === undefined ? async () => {} : createAllocating({ ...dependencies, allocations, resolutionMs });
}

interface Asking extends CostAllocationDependencies {
  readonly allocations: Allocations;
  readonly resolutionMs: number;
}

interface Run {
  readonly failures: AllocationsUnavailable[];
  readonly written: WrittenAllocations;
  readonly signal: AbortSignal;
}

function createAllocating({ clock, allocations, resolutionMs, ...context }: Asking) {
  /** UIDs unknown to the monitor, by the start of the period: not read again. */
  const unknown = new Map<number, Set<string>>();

  async function ask(period: Period, accounts: readonly Account[], signal: AbortSignal) {
    const left = unknown.get(period.fromMs) ?? new Set<string>();
    unknown.set(period.fromMs, left);
    const nowMs = clock.now().getTime();
    const isMeant = (one: Account) =>
      (one.goneMs ?? nowMs) - one.createdMs >= resolutionMs && !left.has(one.uid) && !isKept(one, period);
    const open = soleOwners(accounts, period).filter(isMeant);
    if (open.length === 0) return [];
    const costs = await allocations.byNamespace(period, signal);
    return open.flatMap((account) => {
      const cost = costs.get(namespaceName(account.name));
      if (cost === undefined) left.add(account.uid);
      return cost === undefined ? [] : [{ account, allocation: { ...instantsOf(lifeIn(account, period)), ...cost } }];
    });
  }

  async function allocate(dayMs: number, { failures, written, signal }: Run) {
    const accounts = accountsSince(dayMs, written, context);
    const found = new Map<Account, Allocation[]>();
    for (const period of timesOf(dayMs, resolutionMs, clock.now().getTime())) {
      if (failures.length === MOST_FAILURES) break;
      await yieldIfDue();
      const answers = await ask(period, accounts, signal).catch((error: unknown) => {
        if (!(error instanceof AllocationsUnavailable)) throw error;
        failures.push(error);
        return [];
      });
      for (const { account, allocation } of answers) found.set(account, [...(found.get(account) ?? []), allocation]);
    }
    await eachOf(WRITES_AT_ONCE, [...found], ([account, added]) => account.store(added));
  }

  return async (_key: string, { signal }: { readonly signal: AbortSignal }): Promise<ReconcileResult> => {
    const nowMs = clock.now().getTime();
    const firstMs = midnightOf(nowMs) - (ASKED_DAYS - 1) * DAY_MS;
    for (const fromMs of unknown.keys()) if (fromMs < firstMs) unknown.delete(fromMs);
    const run: Run = { failures: [], written: new Map(), signal };
    // Day by day: results do not wait for the rest.
    for (let dayMs = midnightOf(nowMs); dayMs >= firstMs; dayMs -= DAY_MS) {
      signal.throwIfAborted();
      await allocate(dayMs, run);
    }
    if (run.failures[0] !== undefined) throw run.failures[0];
    return { requeueAfterMs: nextDueMs(nowMs, resolutionMs) - nowMs };
  };
}

function timesOf(dayMs: number, resolutionMs: number, nowMs: number): readonly Period[] {
  const begins = Array.from({ length: DAY_MS / resolutionMs }, (_, index) => dayMs + index * resolutionMs);
  const times = begins.map((fromMs) => ({ fromMs, toMs: fromMs + resolutionMs }));
  return times.filter(({ toMs }) => toMs + SETTLED_MS <= nowMs).reverse();
}

/** Time at which the next period can be asked for. */
function nextDueMs(nowMs: number, resolutionMs: number): number {
  return (Math.floor((nowMs - SETTLED_MS) / resolutionMs) + 1) * resolutionMs + SETTLED_MS;
}

function lifeIn({ createdMs, goneMs = Number.POSITIVE_INFINITY }: Account, { fromMs, toMs }: Period): Period {
  return { fromMs: Math.max(fromMs, createdMs), toMs: Math.min(toMs, goneMs) };
}

function isKept(account: Account, period: Period): boolean {
  const { fromMs, toMs } = lifeIn(account, period);
  return isAllocated(account.allocations, fromMs, toMs);
}

const instantsOf = ({ fromMs, toMs }: Period) => ({
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
});

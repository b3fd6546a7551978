import type { Settings } from "../../../config/settings.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Reconcile, ReconcileResult } from "../../kit/controller.ts";
import type { Log } from "../../kit/log.ts";
import type { Records } from "../../ports/records.ts";
import type { Sweep } from "./orphans.ts";

interface Context {
  readonly sweep: Sweep;
  readonly records: Records;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  /** Uniform in [0, 1): spreads the chores. */
  readonly random: () => number;
}

/** What recurs for the platform as a whole; the keys of its controller. */
export const CHORES = ["orphans", "records"] as const;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** What began to go needs a few looks. */
const GOING_RECHECK_MS = 10_000;

/** Does a chore again and again, never right after the start: whoever just began to lead has better things to do. */
export function housekeeping(context: Context): Reconcile {
  const { settings, random } = context;
  const chores: Record<string, { everyMs: number; work: (signal: AbortSignal) => Promise<ReconcileResult> }> = {
    orphans: { everyMs: settings.sweep.everySeconds * 1_000, work: (signal) => sweepOrphans(context, signal) },
    records: { everyMs: HOUR_MS, work: (signal) => pruneRecords(context, signal) },
  };
  const begun = new Set<string>();
  return async (key, { signal }) => {
    const chore = chores[key];
    if (chore === undefined) return;
    if (!begun.has(key)) {
      begun.add(key);
      return { recheckAfterMs: chore.everyMs * random() };
    }
    const usual = chore.everyMs * (0.9 + 0.2 * random());
    const { recheckAfterMs = usual } = await chore.work(signal);
    return { recheckAfterMs: Math.min(usual, recheckAfterMs) };
  };
}

async function sweepOrphans({ sweep, log }: Context, signal: AbortSignal): Promise<ReconcileResult> {
  const report = await sweep(signal);
  if (report.orphans > 0) log.info("swept", { ...report });
  return report.removing > 0 ? { recheckAfterMs: GOING_RECHECK_MS } : {};
}

async function pruneRecords({ records, settings, clock, log }: Context, signal: AbortSignal): Promise<ReconcileResult> {
  const { atMost, days } = settings.records;
  const notBefore = new Date(clock.now().getTime() - days * DAY_MS);
  const { dropped, isMoreLeft } = await records.prune({ atMost, notBefore }, signal);
  if (dropped > 0) log.info("old records were dropped", { dropped });
  return isMoreLeft ? { recheckAfterMs: GOING_RECHECK_MS } : {};
}

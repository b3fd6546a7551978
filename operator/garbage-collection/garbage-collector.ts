import type { Settings } from "../../config/settings.ts";
import {
  type Controller,
  type ControllerMetrics,
  createController,
  type Reconcile,
  type ReconcileResult,
} from "../kit/controller/controller.ts";
import type { Log } from "../kit/log.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { Records } from "../ports/records.ts";
import type { ServerClock } from "../ports/server-clock.ts";
import { earlierOfClocks } from "./earlier-of-clocks.ts";
import type { Sweep } from "./orphans.ts";

interface Context {
  readonly sweep: Sweep;
  readonly records: Records;
  /** Removes what is left of API tokens that ended. */
  readonly dropTokens: (signal: AbortSignal) => Promise<void>;
  /** Removes the values of API tokens that are gone. */
  readonly sweepTokenValues: (signal: AbortSignal) => Promise<void>;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  readonly log: Log;
  /** Uniform in [0, 1): spreads the chores. */
  readonly random: () => number;
  readonly metrics?: ControllerMetrics;
}

/** What recurs for the platform as a whole; the keys of its controller. */
export const COLLECTIONS = ["orphans", "records", "tokens", "token values"] as const;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** What began to go needs a few looks. */
const GOING_RECHECK_MS = 10_000;
/** Nobody waits for a chore: what fails is not hurried. */
const FIRST_RETRY_MS = 30_000;
/** A sweep removes what it finds one after the other. */
const LONGEST_CHORE_MS = 600_000;

/** Has every chore done, once started, by a worker of its own: one that takes long holds up no other. */
export function createGarbageCollector(context: Context): Controller {
  const { settings, clock, log, random, metrics } = context;
  const longest = settings.sweep.everySeconds * 1_000;
  const housekeeper = createController({
    ...{
      name: "housekeeping",
      reconcile: collectGarbage(context),
      workers: COLLECTIONS.length,
      deadlineMs: LONGEST_CHORE_MS,
    },
    queue: { backoffMs: { first: Math.min(FIRST_RETRY_MS, longest), longest } },
    ...{ clock, log, random, ...(metrics === undefined ? {} : { metrics }) },
  });
  for (const chore of COLLECTIONS) housekeeper.enqueue(chore, "low");
  return housekeeper;
}

/** Does a chore again and again, never right after the start: whoever just began to lead has better things to do. */
export function collectGarbage(context: Context): Reconcile {
  const { settings, random } = context;
  const chores: Record<string, { everyMs: number; work: (signal: AbortSignal) => Promise<ReconcileResult> }> = {
    orphans: { everyMs: settings.sweep.everySeconds * 1_000, work: orphanSweeps(context) },
    records: { everyMs: HOUR_MS, work: (signal) => pruneRecords(context, signal) },
    tokens: { everyMs: HOUR_MS, work: (signal) => context.dropTokens(signal).then(() => ({})) },
    "token values": {
      everyMs: settings.sweep.everySeconds * 1_000,
      work: (signal) => context.sweepTokenValues(signal).then(() => ({})),
    },
  };
  const begun = new Set<string>();
  return async (key, { signal }) => {
    const chore = chores[key];
    if (chore === undefined) return;
    if (!begun.has(key)) {
      begun.add(key);
      return { requeueAfterMs: chore.everyMs * random() };
    }
    const usual = chore.everyMs * (0.9 + 0.2 * random());
    const { requeueAfterMs = usual } = await chore.work(signal);
    return { requeueAfterMs: Math.min(usual, requeueAfterMs) };
  };
}

/** Looks soon after what is going, and less and less soon while nothing comes to its end. */
function orphanSweeps({ sweep, log }: Context): (signal: AbortSignal) => Promise<ReconcileResult> {
  let looksInVain = 0;
  return async (signal) => {
    const report = await sweep(signal);
    if (report.orphans > 0) log.info("swept", { ...report });
    if (report.removing === 0 || report.removed > 0) looksInVain = 0;
    if (report.removing === 0) return {};
    looksInVain += 1;
    return { requeueAfterMs: GOING_RECHECK_MS * 2 ** (looksInVain - 1) };
  };
}

async function pruneRecords(context: Context, signal: AbortSignal): Promise<ReconcileResult> {
  const { records, settings, log } = context;
  const { atMost, days } = settings.records;
  const notBefore = new Date((await earlierOfClocks(context)).getTime() - days * DAY_MS);
  const { dropped, isMoreLeft } = await records.prune({ atMost, notBefore }, signal);
  if (dropped > 0) log.info("old records were dropped", { dropped });
  return isMoreLeft ? { requeueAfterMs: GOING_RECHECK_MS } : {};
}

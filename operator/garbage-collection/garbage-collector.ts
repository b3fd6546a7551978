import type { Settings } from "../../config/settings.ts";
import type { Controller, Reconcile, ReconcileResult, Watch } from "../kit/controller/controller.ts";
import type { Log } from "../kit/log.ts";
import { backoffMs } from "../kit/time/backoff.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { Records } from "../ports/records.ts";
import type { ServerClock } from "../ports/server-clock.ts";
import { earlierOfClocks } from "./earlier-of-clocks.ts";
import type { Sweep } from "./orphans.ts";

export interface CollectorContext {
  readonly records: Records;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  readonly log: Log;
  /** Uniform in [0, 1): spreads the collections. */
  readonly random: () => number;
}

/** The collections that have files of their own. */
export interface Collections {
  readonly orphans: Sweep;
  /** Removes what is left of API tokens that ended. */
  readonly tokens: (signal: AbortSignal) => Promise<void>;
  /** Removes the values of API tokens that are gone. */
  readonly tokenValues: (signal: AbortSignal) => Promise<void>;
}

/** What is collected for the platform as a whole; the keys of the controller. */
export const COLLECTIONS = ["orphans", "records", "tokens", "token values"] as const;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A removal that has begun needs a few checks. */
const REMOVING_RECHECK_MS = 10_000;
/** No user waits for a collection: a failed one is not retried in a hurry. */
const FIRST_RETRY_MS = 30_000;
/** A sweep removes one thing after the other. */
const LONGEST_COLLECTION_MS = 600_000;

/** The controller of the garbage collection: a worker for each collection, so that a long one delays no other. */
export function garbageCollection(
  context: CollectorContext,
  collections: Collections,
  watches: readonly Watch[],
): Controller {
  const longest = context.settings.sweep.everySeconds * 1_000;
  return {
    name: "garbage collection",
    reconcile: collectGarbage(context, collections),
    watches,
    initialKeys: () => COLLECTIONS,
    workers: COLLECTIONS.length,
    deadlineMs: LONGEST_COLLECTION_MS,
    backoffMs: { first: Math.min(FIRST_RETRY_MS, longest), longest },
  };
}

/** Runs a collection again and again, but not right after the start, when a new leader has more urgent work. */
export function collectGarbage(context: CollectorContext, { orphans, tokens, tokenValues }: Collections): Reconcile {
  const { settings, random } = context;
  const sweepMs = settings.sweep.everySeconds * 1_000;
  const collections: Record<string, { everyMs: number; collect: (signal: AbortSignal) => Promise<ReconcileResult> }> = {
    orphans: { everyMs: sweepMs, collect: orphanSweeps(context, orphans) },
    records: { everyMs: HOUR_MS, collect: (signal) => pruneRecords(context, signal) },
    tokens: { everyMs: HOUR_MS, collect: (signal) => tokens(signal).then(() => ({})) },
    "token values": { everyMs: sweepMs, collect: (signal) => tokenValues(signal).then(() => ({})) },
  };
  const begun = new Set<string>();
  return async (key, { signal }) => {
    const collection = collections[key];
    if (collection === undefined) return;
    if (!begun.has(key)) {
      begun.add(key);
      return { requeueAfterMs: collection.everyMs * random() };
    }
    const usual = collection.everyMs * (0.9 + 0.2 * random());
    const { requeueAfterMs = usual } = await collection.collect(signal);
    return { requeueAfterMs: Math.min(usual, requeueAfterMs) };
  };
}

/** Sweeps again soon while something is being removed, and less and less soon while nothing ends. */
function orphanSweeps({ log }: CollectorContext, sweep: Sweep): (signal: AbortSignal) => Promise<ReconcileResult> {
  let fruitless = 0;
  return async (signal) => {
    const report = await sweep(signal);
    if (report.orphans > 0) log.info("swept", { ...report });
    if (report.removing === 0 || report.removed > 0) fruitless = 0;
    if (report.removing === 0) return {};
    fruitless += 1;
    return { requeueAfterMs: backoffMs(fruitless, { first: REMOVING_RECHECK_MS, longest: HOUR_MS }) };
  };
}

async function pruneRecords(context: CollectorContext, signal: AbortSignal): Promise<ReconcileResult> {
  const { records, settings, log } = context;
  const { atMost, days } = settings.records;
  const notBefore = new Date((await earlierOfClocks(context)).getTime() - days * DAY_MS);
  const { dropped, isMoreLeft } = await records.prune({ atMost, notBefore }, signal);
  if (dropped > 0) log.info("old records were dropped", { dropped });
  return isMoreLeft ? { requeueAfterMs: REMOVING_RECHECK_MS } : {};
}

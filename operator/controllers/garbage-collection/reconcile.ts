import type { Settings } from "../../../config/settings.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../crds/durations.ts";
import type { Reconcile, ReconcileResult } from "../../kit/controller/controller.ts";
import type { Log } from "../../kit/log.ts";
import { backoffMs } from "../../kit/time/backoff.ts";
import type { Clock, ServerClock } from "../../ports/clock.ts";
import type { Metrics } from "../../ports/observability/metrics.ts";
import type { Records } from "../../ports/records.ts";
import { earlierOfClocks } from "./old-records.ts";
import type { Sweep } from "./orphans.ts";

/** The settings and ports of the reconcile, beside those of the collections that have files of their own. */
export interface CollectorDependencies {
  readonly settings: Pick<Settings, "sweep" | "records">;
  readonly log: Log;
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  /** Uniform in [0, 1): spreads periodic work. */
  readonly random: () => number;
  readonly records: Pick<Records, "prune">;
  /** Told of each collection that ended without an error. */
  readonly loopSucceeded: Metrics["loopSucceeded"];
}

/** Collections with their own files. */
export interface Collections {
  readonly orphans: Sweep;
  readonly tokens: (signal: AbortSignal) => Promise<void>;
  readonly tokenValues: (signal: AbortSignal) => Promise<void>;
  /** Drops old webhook deliveries; answers true when some are left. */
  readonly deliveries: (signal: AbortSignal) => Promise<boolean>;
  /** Deletes finished messages; answers true when some are left. */
  readonly notifications: (signal: AbortSignal) => Promise<boolean>;
  /** Shrinks old rollups, and drops the oldest. */
  readonly rollups: (signal: AbortSignal) => Promise<void>;
  readonly summaries: (signal: AbortSignal) => Promise<void>;
}

/** Periodic collections; the keys of their controller. */
export const COLLECTIONS = [
  "orphans",
  "records",
  "tokens",
  "token values",
  "deliveries",
  "notifications",
  "rollups",
  "summaries",
] as const;
type Collection = (typeof COLLECTIONS)[number];

const OUTBOX_MS = HOUR_MS / 12;
/** A begun deletion takes a few reconciles. */
const DELETING_RECHECK_MS = 10_000;

/** Repeats a collection periodically, and never right after the start: a new leader has more urgent work. */
export function collectGarbage(context: CollectorDependencies, of: Collections): Reconcile {
  const { orphans, tokens, tokenValues, deliveries, notifications, rollups, summaries } = of;
  const { settings, random, loopSucceeded } = context;
  const sweepMs = settings.sweep.everySeconds * 1_000;
  type Collect = (signal: AbortSignal) => Promise<ReconcileResult>;
  const collections: Readonly<Record<string, { readonly everyMs: number; readonly collect: Collect } | undefined>> = {
    orphans: { everyMs: sweepMs, collect: orphanSweeps(context, orphans) },
    records: { everyMs: HOUR_MS, collect: (signal: AbortSignal) => pruneRecords(context, signal) },
    tokens: { everyMs: HOUR_MS, collect: (signal: AbortSignal) => tokens(signal).then(() => ({})) },
    "token values": { everyMs: sweepMs, collect: (signal: AbortSignal) => tokenValues(signal).then(() => ({})) },
    // Webhooks may come by the thousand a minute.
    deliveries: { everyMs: MINUTE_MS, collect: soonAgain(deliveries) },
    notifications: { everyMs: OUTBOX_MS, collect: soonAgain(notifications) },
    rollups: { everyMs: HOUR_MS, collect: (signal: AbortSignal) => rollups(signal).then(() => ({})) },
    summaries: { everyMs: HOUR_MS, collect: (signal: AbortSignal) => summaries(signal).then(() => ({})) },
  } satisfies Record<Collection, unknown>;
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
    loopSucceeded(key);
    return { requeueAfterMs: Math.min(usual, requeueAfterMs) };
  };
}

function soonAgain(collect: (signal: AbortSignal) => Promise<boolean>) {
  return async (signal: AbortSignal): Promise<ReconcileResult> =>
    (await collect(signal)) ? { requeueAfterMs: DELETING_RECHECK_MS } : {};
}

/** Sweeps again soon while orphans are being deleted, and less and less soon while none of them is gone. */
function orphanSweeps({ log }: CollectorDependencies, sweep: Sweep): (signal: AbortSignal) => Promise<ReconcileResult> {
  let fruitless = 0;
  return async (signal) => {
    const report = await sweep(signal);
    if (report.orphans > 0) log.info("swept", { ...report });
    if (report.removing === 0 || report.removed > 0) fruitless = 0;
    if (report.removing === 0) return {};
    fruitless += 1;
    return { requeueAfterMs: backoffMs(fruitless, { first: DELETING_RECHECK_MS, longest: HOUR_MS }) };
  };
}

async function pruneRecords(context: CollectorDependencies, signal: AbortSignal): Promise<ReconcileResult> {
  const { records, settings, log } = context;
  const { atMost, days } = settings.records;
  const notBefore = new Date((await earlierOfClocks(context)).getTime() - days * DAY_MS);
  const { dropped, isMoreLeft } = await records.prune({ atMost, notBefore }, signal);
  if (dropped > 0) log.info("old records were dropped", { dropped });
  return isMoreLeft ? { requeueAfterMs: DELETING_RECHECK_MS } : {};
}

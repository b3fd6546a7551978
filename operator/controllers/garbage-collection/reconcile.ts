import { HOUR_MS, MINUTE_MS } from "../../../crds/durations.ts";
import type { Reconcile, ReconcileResult } from "../../kit/controller/controller.ts";
import type { CollectionDependencies } from "./dependencies.ts";

/** Further objects wait, or a teardown goes on: it takes a few reconciles. */
export const DELETING_RECHECK_MS = 10_000;

/** Period of each collection; `undefined`: that of the settings for sweeps. */
const PERIODS_MS = {
  orphans: undefined,
  records: HOUR_MS,
  tokens: HOUR_MS,
  "token values": undefined,
  // Webhooks may come by the thousand a minute.
  deliveries: MINUTE_MS,
  notifications: 5 * MINUTE_MS,
  rollups: HOUR_MS,
  summaries: HOUR_MS,
} as const;

type Collection = keyof typeof PERIODS_MS;

/** Periodic collections; the keys of their controller. */
export const COLLECTIONS = Object.keys(PERIODS_MS) as readonly Collection[];

/** The work of each collection; answers true when objects are left for a soon next one, or the time of that. */
export type Collections = Readonly<
  Record<Collection, (signal: AbortSignal) => Promise<boolean> | Promise<void> | Promise<ReconcileResult>>
>;

/** Repeats a collection periodically, and never right after the start: a new leader has more urgent work. */
export function collectGarbage(
  { settings, random, loopSucceeded }: CollectionDependencies<"settings" | "random" | "loopSucceeded">,
  collections: Collections,
): Reconcile {
  const started = new Set<Collection>();
  return async (key, { signal }) => {
    const collection = COLLECTIONS.find((one) => one === key);
    if (collection === undefined) return;
    const periodMs = PERIODS_MS[collection] ?? settings.sweep.everySeconds * 1_000;
    if (!started.has(collection)) {
      started.add(collection);
      return { requeueAfterMs: periodMs * random() };
    }
    const usual = periodMs * (0.9 + 0.2 * random());
    const result = await collections[collection](signal);
    loopSucceeded(key);
    return { requeueAfterMs: Math.min(usual, nextInMs(result) ?? usual) };
  };
}

function nextInMs(result: Awaited<ReturnType<Collections[Collection]>>): number | undefined {
  return typeof result === "object" ? result.requeueAfterMs : result === true ? DELETING_RECHECK_MS : undefined;
}

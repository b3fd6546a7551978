/** A rollup: what all replicas counted on a day, by short slots, and the usage of environments on it. */
import type { PeriodSummary } from "./period-summary.ts";

/** Counts of a slot, by counter name. */
export type SlotCounts = Readonly<Record<string, number>>;
/** Counts by the start of the slot in UTC, such as `09:35`. */
export type Slots = Readonly<Record<string, SlotCounts>>;

/** Counts of a day, of all replicas together. */
export interface Rollup {
  readonly slots: Slots;
  /** Last batch of each recent writer, so that none is added twice. */
  readonly writers: Readonly<Record<string, { readonly batch: number; readonly at: string }>>;
  /** Usage of environments on that day (UTC); absent until the day is over and summed up. */
  readonly summary?: PeriodSummary | undefined;
}

/** Interval at which a process stores its counts: a kill loses no more. */
export const STORED_EVERY_MS = 10_000;

/** Counters of rollups; durations have one per bound, see `durationCounter`. */
export const COUNTERS = {
  requests: "requests",
  /** Responses with a status of 500 or more. */
  requestErrors: "request_errors",
  webhooks: "webhooks",
  webhookErrors: "webhook_errors",
  /** Error-free webhooks only. */
  webhookMs: "webhook_ms",
  webhookOutcome: (outcome: string) => `webhook_${outcome}`,
  reconcileErrors: "reconcile_errors",
  reconcileMs: "reconcile_ms",
} as const;

/** Counts are kept by five minutes, later by the hour. */
const SLOT_MS = 300_000;

/** UTC day of a moment, such as `2026-11-23`. */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** Five-minute slot of a moment, by its start in UTC, such as `09:35`. */
export const slotOf = (at: Date): string =>
  new Date(Math.floor(at.getTime() / SLOT_MS) * SLOT_MS).toISOString().slice(11, 16);

/** Sum of all, counter by counter. */
export function sumOf(all: Iterable<SlotCounts>): SlotCounts {
  const sum: Record<string, number> = {};
  for (const counts of all) {
    for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
  }
  return sum;
}

/** Sum of both, slot by slot. */
export function merged(one: Slots, other: Slots): Slots {
  const sum: Record<string, SlotCounts> = { ...one };
  for (const [slot, counts] of Object.entries(other)) sum[slot] = sumOf([sum[slot] ?? {}, counts]);
  return sum;
}

/** The same counts by the hour. */
export function byTheHour(slots: Slots): Slots {
  return Object.entries(slots)
    .map(([slot, counts]) => ({ [slot.replace(/:\d\d$/, ":00")]: counts }))
    .reduce<Slots>(merged, {});
}

/** Upper bounds of durations, in milliseconds; longer ones count in `more`. */
const BOUNDS_MS = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000];
const BEYOND = "more";

/** Counter of a duration, by the first bound that is not shorter. */
export function durationCounter(name: string, durationMs: number): string {
  return `${name}.${BOUNDS_MS.find((bound) => durationMs <= bound) ?? BEYOND}`;
}

/**
 * Duration below which the share of a counter's durations stays, in milliseconds, as precise as the bounds; `undefined`
 * without any.
 */
export function quantileMs(counts: SlotCounts, name: string, share: number): number | undefined {
  const of = (bound: number | string) => counts[`${name}.${bound}`] ?? 0;
  const total = [...BOUNDS_MS, BEYOND].reduce((sum: number, bound) => sum + of(bound), 0);
  if (total === 0) return undefined;
  let left = share * total;
  for (const [index, bound] of BOUNDS_MS.entries()) {
    if (left <= of(bound)) {
      const below = BOUNDS_MS[index - 1] ?? 0;
      return below + (bound - below) * (left / of(bound));
    }
    left -= of(bound);
  }
  return BOUNDS_MS.at(-1);
}

/** Count of durations within the bound, which must be one of `BOUNDS_MS`. */
export function countWithin(counts: SlotCounts, name: string, boundMs: number): number {
  if (!BOUNDS_MS.includes(boundMs)) throw new RangeError(`durations are not counted by ${boundMs} ms`);
  return BOUNDS_MS.filter((bound) => bound <= boundMs).reduce(
    (sum, bound) => sum + (counts[`${name}.${bound}`] ?? 0),
    0,
  );
}

import type { SlotCounts } from "../operator/ports/rollups.ts";

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

/** Sum of all, counter by counter. */
export function sumOf(all: Iterable<SlotCounts>): SlotCounts {
  const sum: Record<string, number> = {};
  for (const counts of all) {
    for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
  }
  return sum;
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

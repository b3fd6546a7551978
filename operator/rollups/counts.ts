import type { RollupContent, SlotCounts } from "../ports/rollups.ts";

/** Counts are kept for each five minutes of a day, and for each hour once they are old. */
const SLOT_MS = 300_000;
const HOUR_SLOT = /:\d\d$/;

/** Upper bounds of durations, in milliseconds; longer ones count in `more`. */
const BOUNDS_MS = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000];
const BEYOND = "more";

/** The day of a moment, in UTC, such as `2026-11-23`. */
export function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

/** The five minutes of a moment, by their begin in UTC, such as `09:35`. */
export function slotOf(at: Date): string {
  return new Date(Math.floor(at.getTime() / SLOT_MS) * SLOT_MS).toISOString().slice(11, 16);
}

/** The counter of a duration: of those between the bound before and this one. */
export function durationCounter(name: string, durationMs: number): string {
  return `${name}.${BOUNDS_MS.find((bound) => durationMs <= bound) ?? BEYOND}`;
}

/** The sum of both, counter by counter. */
export function plus(one: SlotCounts, other: SlotCounts): SlotCounts {
  const sum: Record<string, number> = { ...one };
  for (const [name, count] of Object.entries(other)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/** The sum of both, slot by slot. */
export function merged(
  one: RollupContent["slots"],
  other: RollupContent["slots"],
): Readonly<Record<string, SlotCounts>> {
  const sum: Record<string, SlotCounts> = { ...one };
  for (const [slot, counts] of Object.entries(other)) sum[slot] = plus(sum[slot] ?? {}, counts);
  return sum;
}

/** The same counts by the hour. */
export function byTheHour(slots: RollupContent["slots"]): Readonly<Record<string, SlotCounts>> {
  return Object.entries(slots)
    .map(([slot, counts]) => ({ [slot.replace(HOUR_SLOT, ":00")]: counts }))
    .reduce(merged, {});
}

/**
 * The duration that the share of all durations of a counter stays below, in milliseconds, as precise as the bounds are;
 * `undefined` without any.
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

/** How many of the counter's durations are within the bound, which is one of those that are counted by. */
export function countWithin(counts: SlotCounts, name: string, boundMs: number): number {
  if (!BOUNDS_MS.includes(boundMs)) throw new RangeError(`durations are not counted by ${boundMs} ms`);
  return BOUNDS_MS.filter((bound) => bound <= boundMs).reduce(
    (sum, bound) => sum + (counts[`${name}.${bound}`] ?? 0),
    0,
  );
}

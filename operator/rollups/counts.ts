import { sumOf } from "../ports/observability/rollup-counters.ts";
import type { RollupContent, SlotCounts } from "../ports/observability/rollups.ts";

/** Counts are kept by five minutes, later by the hour. */
const SLOT_MS = 300_000;
const HOUR_SLOT = /:\d\d$/;

/** UTC day of a moment, such as `2026-11-23`. */
export function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

/** Five-minute slot of a moment, by its start in UTC, such as `09:35`. */
export function slotOf(at: Date): string {
  return new Date(Math.floor(at.getTime() / SLOT_MS) * SLOT_MS).toISOString().slice(11, 16);
}

/** Sum of both, slot by slot. */
export function merged(
  one: RollupContent["slots"],
  other: RollupContent["slots"],
): Readonly<Record<string, SlotCounts>> {
  const sum: Record<string, SlotCounts> = { ...one };
  for (const [slot, counts] of Object.entries(other)) sum[slot] = sumOf([sum[slot] ?? {}, counts]);
  return sum;
}

/** The same counts by the hour. */
export function byTheHour(slots: RollupContent["slots"]): Readonly<Record<string, SlotCounts>> {
  return Object.entries(slots)
    .map(([slot, counts]) => ({ [slot.replace(HOUR_SLOT, ":00")]: counts }))
    .reduce(merged, {});
}

import type { Rollups } from "../../operator/ports/facade/rollups.ts";
import type { SlotCounts } from "../../operator/ports/rollups.ts";
import type { Period } from "../schemas/period.ts";

/** What was counted in the period: in slots that begin in it, of five minutes, or of an hour where they are old. */
export function countedIn(rollups: Rollups, { fromMs, toMs }: Period): SlotCounts {
  const sum: Record<string, number> = {};
  for (const { day, slots } of rollups.days()) {
    const midnightMs = Date.parse(day);
    if (midnightMs >= toMs || midnightMs + DAY_MS <= fromMs) continue;
    for (const [slot, counts] of Object.entries(slots)) {
      const beginMs = Date.parse(`${day}T${slot}Z`);
      if (beginMs >= fromMs && beginMs < toMs) add(sum, counts);
    }
  }
  return sum;
}

/** When counting began: the first slot that is known; `undefined` before any. */
export function countedSince(rollups: Rollups): string | undefined {
  const first = rollups
    .days()
    .reduce<Day | undefined>((one, other) => (one && one.day < other.day ? one : other), undefined);
  const [slot] = Object.keys(first?.slots ?? {}).sort();
  return first && slot && `${first.day}T${slot}:00.000Z`;
}

type Day = ReturnType<Rollups["days"]>[number];

const DAY_MS = 86_400_000;

function add(sum: Record<string, number>, counts: SlotCounts): void {
  for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
}

import { DAY_MS } from "../../crds/durations.ts";
import { oncePer } from "../../crds/once-per.ts";
import { isWithin, type Period } from "../../crds/usage/period-summary.ts";
import { type SlotCounts, STORED_EVERY_MS, sumOf } from "../../crds/usage/rollup.ts";
import type { Rollups } from "../../operator/ports/rollups.ts";

/** Counts of the period: slots that begin in it, of five minutes, or of an hour where they are old. */
export function countedIn(rollups: Rollups, period: Period): SlotCounts {
  return sumOf(rollups.days().map((day) => countedOn(day, period)));
}

function countedOn(one: Day, { fromMs, toMs }: Period): SlotCounts {
  const midnightMs = Date.parse(one.day);
  if (midnightMs >= toMs || midnightMs + DAY_MS <= fromMs) return {};
  // Only the period is read.
  const { day, slots } = one;
  if (midnightMs >= fromMs && midnightMs + DAY_MS <= toMs) return wholeDay(slots);
  return sumOf(slotsOf(slots, day).flatMap(({ atMs, counts }) => (isWithin({ fromMs, toMs }, atMs) ? [counts] : [])));
}

const slotsOf = oncePer((slots: Day["slots"], day: string) =>
  Object.entries(slots).map(([slot, counts]) => ({ atMs: Date.parse(`${day}T${slot}Z`), counts })),
);

/** Reliability of the counts. */
export function coverageOf(rollups: Rollups) {
  return {
    requests_since: countedSince(rollups) ?? null,
    lost_by_a_kill_seconds: STORED_EVERY_MS / 1000,
  };
}

const countedSince = (rollups: Rollups): string | undefined => firstSlot(rollups.days());

/** Looked for once in each list. */
const firstSlot = oncePer((days: readonly Day[]): string | undefined => {
  const first = days.reduce<Day | undefined>((one, other) => (one && one.day < other.day ? one : other), undefined);
  const [slot] = Object.keys(first?.slots ?? {}).sort();
  return first && slot && `${first.day}T${slot}:00.000Z`;
});

/** Past days do not change. */
const wholeDay = oncePer((slots: Day["slots"]) => sumOf(Object.values(slots)));

type Day = ReturnType<Rollups["days"]>[number];

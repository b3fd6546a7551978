import { Temporal } from "temporal-polyfill";
import type { SleepSchedule } from "./sleep.schema.ts";

const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/** The days before and after a moment whose windows may hold it, or follow it: a week, and a window over midnight. */
const DAYS_BEFORE = 2;
const DAYS_AFTER = 8;

/** State of a schedule at a moment. */
export interface ScheduleState {
  readonly isAwake: boolean;
  /** Next change; `undefined` where there is none within a week, so none at all. */
  readonly changesAt?: Date;
}

/** False for a name that this process's table of time zones lacks. */
export function isTimeZone(name: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/**
 * State of the schedule at the moment.
 *
 * A local time that a change of the clock skips counts as the end of the gap; of one that it repeats, a window begins at
 * the first and ends at the last, so that nothing falls asleep for the hour between.
 *
 * @throws RangeError for an unknown time zone
 */
export function scheduleAt({ timeZone, awake }: SleepSchedule, now: Date): ScheduleState {
  const at = Temporal.Instant.fromEpochMilliseconds(now.getTime());
  const first = at.toZonedDateTimeISO(timeZone).toPlainDate().subtract({ days: DAYS_BEFORE });
  const dates = Array.from({ length: DAYS_BEFORE + 1 + DAYS_AFTER }, (_, days) => first.add({ days }));
  const intervals = joined(awake.map(windowOf).flatMap((window) => intervalsOf(window, dates, timeZone)));
  const ms = now.getTime();
  const current = intervals.find(({ from, to }) => from <= ms && ms < to);
  const horizon = dates.at(-1)?.toZonedDateTime({ timeZone }).epochMilliseconds ?? ms;
  const next = current?.to ?? intervals.find(({ from }) => from > ms)?.from;
  const isKnown = next !== undefined && next < horizon;
  return { isAwake: current !== undefined, ...(isKnown && { changesAt: new Date(next) }) };
}

/** Milliseconds since 1970; the end does not belong to it. */
interface Interval {
  readonly from: number;
  readonly to: number;
}

interface Window {
  /** 1 is Monday, 7 is Sunday. */
  readonly days: ReadonlySet<number>;
  readonly from: Temporal.PlainTime;
  readonly to: Temporal.PlainTime;
}

function windowOf(text: string): Window {
  const [days = "", times = ""] = text.split(" ");
  const [from = "", to = ""] = times.split("-");
  const midnight = to === "24:00" ? "00:00" : to;
  return { days: daysOf(days), from: Temporal.PlainTime.from(from), to: Temporal.PlainTime.from(midnight) };
}

/** `Sat-Mon` are Saturday, Sunday and Monday. */
function daysOf(text: string): ReadonlySet<number> {
  return new Set(
    text.split(",").flatMap((part) => {
      const [from = "", to = from] = part.split("-");
      const begin = DAYS.indexOf(from);
      const length = ((DAYS.indexOf(to) - begin + DAYS.length) % DAYS.length) + 1;
      return Array.from({ length }, (_, index) => ((begin + index) % DAYS.length) + 1);
    }),
  );
}

function intervalsOf({ days, from, to }: Window, dates: readonly Temporal.PlainDate[], zone: string): Interval[] {
  const endsNextDay = Temporal.PlainTime.compare(to, from) <= 0;
  return dates
    .filter(({ dayOfWeek }) => days.has(dayOfWeek))
    .map((date) => ({
      from: instantOf(date.toPlainDateTime(from), zone, "earlier"),
      to: instantOf(date.add({ days: endsNextDay ? 1 : 0 }).toPlainDateTime(to), zone, "later"),
    }));
}

function instantOf(local: Temporal.PlainDateTime, zone: string, which: "earlier" | "later"): number {
  const instant = local.toZonedDateTime(zone, { disambiguation: which });
  // Skipped by a change of the clock: both ways out lie on the other side of the gap, which ends at its transition.
  if (!instant.toPlainDateTime().equals(local)) {
    const before = local.toZonedDateTime(zone, { disambiguation: "earlier" });
    return before.getTimeZoneTransition("next")?.epochMilliseconds ?? instant.epochMilliseconds;
  }
  return instant.epochMilliseconds;
}

/** Overlapping and adjacent intervals as one, in their order. */
function joined(intervals: readonly Interval[]): readonly Interval[] {
  const sorted = intervals.filter(({ from, to }) => from < to).toSorted((one, other) => one.from - other.from);
  const result: Interval[] = [];
  for (const next of sorted) {
    const last = result.at(-1);
    if (last === undefined || next.from > last.to) result.push(next);
    else result[result.length - 1] = { from: last.from, to: Math.max(last.to, next.to) };
  }
  return result;
}

import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { AWAKE_WINDOW_PATTERN, type SleepSchedule } from "../../../crds/sleep.schema.ts";
import { isTimeZone, scheduleAt } from "../../../crds/sleep-schedule.ts";

const BERLIN = "Europe/Berlin";
const HOUR_MS = 3_600_000;
const at = (text: string) => new Date(text);
const berlin = (...awake: string[]): SleepSchedule => ({ timeZone: BERLIN, awake });

describe("a schedule", () => {
  test.each([
    ["in a window", berlin("Mon-Fri 08:00-19:00"), "2026-11-26T12:00:00Z", true, "2026-11-26T18:00:00Z"],
    ["at its begin", berlin("Mon-Fri 08:00-19:00"), "2026-11-26T07:00:00Z", true, "2026-11-26T18:00:00Z"],
    ["at its end", berlin("Mon-Fri 08:00-19:00"), "2026-11-26T18:00:00Z", false, "2026-11-27T07:00:00Z"],
    ["over a weekend", berlin("Mon-Fri 08:00-19:00"), "2026-11-27T18:00:00Z", false, "2026-11-30T07:00:00Z"],
    ["after midnight", berlin("Fri 22:00-06:00"), "2026-11-28T02:00:00Z", true, "2026-11-28T05:00:00Z"],
    ["up to midnight", berlin("Thu 20:00-24:00"), "2026-11-26T22:00:00Z", true, "2026-11-26T23:00:00Z"],
    [
      "over adjacent windows",
      berlin("Thu 08:00-24:00", "Fri 00:00-09:00"),
      "2026-11-26T12:00:00Z",
      true,
      "2026-11-27T08:00:00Z",
    ],
    [
      "in days over the end of a week",
      berlin("Sat-Mon 08:00-09:00"),
      "2026-11-30T07:30:00Z",
      true,
      "2026-11-30T08:00:00Z",
    ],
    ["on single days", berlin("Mon,Wed 08:00-09:00"), "2026-11-30T12:00:00Z", false, "2026-12-02T07:00:00Z"],
  ])("%s", (_where, schedule, now, ...[isAwake, changesAt]) => {
    expect(scheduleAt(schedule, at(now))).toEqual({ isAwake, changesAt: at(changesAt) });
  });

  test("without an end has no next change", () => {
    expect(scheduleAt(berlin("Mon-Sun 00:00-24:00"), at("2026-11-26T12:00:00Z"))).toEqual({ isAwake: true });
  });

  test("without a window is never awake", () => {
    expect(scheduleAt(berlin(), at("2026-11-26T12:00:00Z"))).toEqual({ isAwake: false });
  });
});

describe("a change of the clock", () => {
  test.each([
    // Clocks go from 02:00 to 03:00 at 01:00 UTC.
    [
      "that skips the begin: it begins at the end of the gap",
      "Sun 02:30-08:00",
      "2027-03-28T00:59:59Z",
      false,
      "2027-03-28T01:00:00Z",
    ],
    [
      "that skips the end: it ends at the end of the gap",
      "Sun 01:00-02:30",
      "2027-03-28T00:30:00Z",
      true,
      "2027-03-28T01:00:00Z",
    ],
    ["leaves the begin of a day at its hour", "Mon 08:00-19:00", "2027-03-28T12:00:00Z", false, "2027-03-29T06:00:00Z"],
    // Clocks go from 03:00 to 02:00 at 01:00 UTC.
    [
      "that repeats the begin: it begins at the first",
      "Sun 02:30-08:00",
      "2026-10-25T00:29:59Z",
      false,
      "2026-10-25T00:30:00Z",
    ],
    [
      "that repeats the end: it ends at the last",
      "Sun 01:00-02:30",
      "2026-10-25T00:40:00Z",
      true,
      "2026-10-25T01:30:00Z",
    ],
  ])("%s", (_rule, window, now, ...[isAwake, changesAt]) => {
    expect(scheduleAt(berlin(window), at(now))).toEqual({ isAwake, changesAt: at(changesAt) });
  });
});

const twoDigits = (value: number) => `${value}`.padStart(2, "0");
const day = fc.constantFrom("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun");
const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map(([hour, minute]) => `${twoDigits(hour)}:${twoDigits(minute)}`);
const window = fc
  .tuple(day, fc.constantFrom("-", ","), day, time, time)
  .map(([one, by, other, from, to]) => `${one}${by}${other} ${from}-${to}`);
const schedule = fc.record({
  // Half an hour, a quarter, no change of the clock, one of half an hour, and one at midnight.
  timeZone: fc.constantFrom(BERLIN, "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Asia/Beirut", "UTC"),
  awake: fc.array(window, { maxLength: 4 }),
});
const moment = fc.date({ min: at("2020-01-01T00:00:00Z"), max: at("2030-01-01T00:00:00Z"), noInvalidDate: true });

/** The local weekday and time, by another implementation than the tested one. */
function localOf(timeZone: string, moment: Date): { readonly day: string; readonly time: string } {
  const parts = new Intl.DateTimeFormat("en-GB", { timeZone, weekday: "short", hour: "2-digit", minute: "2-digit" });
  const of = Object.fromEntries(parts.formatToParts(moment).map(({ type, value }) => [type, value]));
  return { day: of.weekday ?? "", time: `${of.hour}:${of.minute}` };
}

describe("any schedule in any zone, at any moment", () => {
  test("keeps its state until the change that it names, and has the other then", () => {
    fc.assert(
      fc.property(schedule, moment, (given, now) => {
        const { isAwake, changesAt } = scheduleAt(given, now);
        if (changesAt === undefined) return;
        expect(changesAt.getTime()).toBeGreaterThan(now.getTime());
        expect(scheduleAt(given, new Date(changesAt.getTime() - 1)).isAwake).toBe(isAwake);
        const between = new Date((now.getTime() + changesAt.getTime()) / 2);
        expect(scheduleAt(given, between)).toEqual({ isAwake, changesAt });
        expect(scheduleAt(given, changesAt).isAwake).toBe(!isAwake);
      }),
    );
  });

  test("is awake as the local clock says, but for hours that a change of it repeats or skips", () => {
    const one = fc.record({ timeZone: schedule.map(({ timeZone }) => timeZone), day, from: time, to: time });
    fc.assert(
      fc.property(one, moment, ({ timeZone, day, from, to }, now) => {
        fc.pre(from < to);
        const offsets = [-2, 0, 2].map((hours) => localOf(timeZone, new Date(now.getTime() + hours * HOUR_MS)).time);
        const isSteady = new Set(offsets.map((local) => local.slice(3))).size === 1;
        const [before = "", , after = ""] = offsets;
        const spanned = (Number(after.slice(0, 2)) - Number(before.slice(0, 2)) + 24) % 24;
        fc.pre(isSteady && spanned === 4);
        const local = localOf(timeZone, now);
        const isAwake = local.day === day && from <= local.time && local.time < to;
        expect(scheduleAt({ timeZone, awake: [`${day} ${from}-${to}`] }, now).isAwake).toBe(isAwake);
      }),
    );
  });
});

test("the API server's pattern accepts every window that is read, and refuses others", () => {
  const pattern = new RegExp(AWAKE_WINDOW_PATTERN);
  fc.assert(fc.property(window, (text) => pattern.test(text)));
  for (const text of [
    "",
    "Mon 8:00-19:00",
    "Mon 08:00-24:30",
    "mon 08:00-09:00",
    "Mon- 08:00-09:00",
    "Mon 08:00",
    "Mon-Tue-Wed 08:00-09:00",
  ]) {
    expect(pattern.test(text)).toBe(false);
  }
});

test("a time zone has an IANA name", () => {
  expect(["Europe/Berlin", "UTC", "Mars/Base", ""].map(isTimeZone)).toEqual([true, true, false, false]);
});

import { describe, expect, test } from "@jest/globals";
import type { EnvironmentStatus } from "../../../../crds/environment/ephemeral-environment.ts";
import { asRun, nextSleep } from "../../../../crds/environment/sleep.ts";
import { WAKE_ANNOTATION } from "../../../../crds/group.ts";
import type { SleepStatus } from "../../../../crds/sleep.schema.ts";
import { environmentFixture } from "../../../support/fixtures/environment/environment-fixture.ts";

const schedule = { timeZone: "Europe/Berlin", awake: ["Mon-Fri 08:00-19:00"] };
// The fixture is created on Thursday, 1 January 2026, at 01:00 in Berlin.
const at = (time: string) => `2026-01-${time}:00.000Z`;
const MORNING = at("01T07:00");
const NOON = at("01T12:00");
const EVENING = at("01T18:00");
const NIGHT = at("01T23:00");
const FRIDAY = at("02T07:00");
const FRIDAY_EVENING = at("02T18:00");

type Given = Partial<SleepStatus> & {
  readonly isServing?: boolean;
  readonly woken?: string;
  readonly suspended?: boolean;
};

function next(now: string, given?: Given, conditions: EnvironmentStatus["conditions"] = []) {
  const { isServing = true, woken, suspended, ...sleep } = given ?? {};
  const former = { state: "awake", since: MORNING, cause: "schedule", schedule, ...sleep } as const;
  const environment = environmentFixture({
    spec: suspended === undefined ? {} : { suspended },
    status: { conditions, ...(given === undefined ? {} : { sleep: former }) },
    metadata: woken === undefined ? {} : { annotations: { [WAKE_ANNOTATION]: woken } },
  });
  return nextSleep(environment, { wish: { schedule }, now: new Date(now), isServing });
}

describe("an environment with a schedule", () => {
  test.each([
    [
      "is awake within its hours, and sleeps at their end",
      NOON,
      {},
      { state: "awake", cause: "schedule", nextAt: EVENING },
    ],
    ["sleeps outside its hours, until the next begin", NIGHT, {}, { state: "asleep", since: NIGHT, nextAt: FRIDAY }],
    ["stays asleep", NIGHT, { state: "asleep", since: EVENING }, { state: "asleep", since: EVENING, nextAt: FRIDAY }],
    ["stays awake while an update goes on", NIGHT, { isServing: false }, { state: "awake", since: MORNING }],
    [
      "stays awake for ten minutes after it woke",
      NIGHT,
      { since: "2026-01-01T22:55:00.000Z" },
      { state: "awake", nextAt: "2026-01-01T23:05:00.000Z" },
    ],
    [
      "stays awake for ten minutes after its first look",
      NIGHT,
      undefined,
      { state: "awake", since: NIGHT, nextAt: "2026-01-01T23:10:00.000Z" },
    ],
    [
      "wakes at the begin of its hours",
      FRIDAY,
      { state: "asleep", since: EVENING, isServing: false },
      { state: "waking", since: FRIDAY, nextAt: FRIDAY_EVENING },
    ],
    [
      "is waking until it answers",
      FRIDAY,
      { state: "waking", since: MORNING, isServing: false },
      { state: "waking", since: MORNING },
    ],
    ["is awake once it answers", FRIDAY, { state: "waking", since: MORNING }, { state: "awake", since: FRIDAY }],
  ] as const)("%s", (_rule, now, given, expected) => {
    expect(next(now, given)).toMatchObject(expected);
  });

  test("is kept awake by a person until the end of its next hours", () => {
    const asleep = { state: "asleep", since: EVENING, woken: "please" } as const;
    const woken = next(NIGHT, { ...asleep, isServing: false });
    expect(woken).toMatchObject({
      state: "waking",
      cause: "person",
      keptAwakeUntil: FRIDAY_EVENING,
      lastHandledWakeAt: "please",
    });
    expect(next(FRIDAY, { ...woken, woken: "please" })).toMatchObject({ state: "awake", cause: "schedule" });
    const later = { ...woken, state: "awake", woken: "please" } as const;
    expect(next(FRIDAY_EVENING, later)).toMatchObject({ state: "asleep", cause: "schedule" });
    expect(next(FRIDAY_EVENING, later)).not.toHaveProperty("keptAwakeUntil");
  });

  test("heeds a request to wake once", () => {
    const asleep = { state: "asleep", since: EVENING, woken: "before", lastHandledWakeAt: "before" } as const;
    expect(next(NIGHT, asleep)).toMatchObject({ state: "asleep" });
  });

  test("that a person resumes outside its hours stays awake until the end of the next ones", () => {
    const suspended = {
      type: "Suspended",
      status: "True",
      reason: "Suspended",
      message: "",
      lastTransitionTime: NOON,
    } as const;
    expect(next(NIGHT, undefined, [suspended])).toMatchObject({ state: "awake", keptAwakeUntil: FRIDAY_EVENING });
  });

  test.each([
    ["a person has it suspended", { suspended: true }, { schedule }],
    ["its own wish is empty", {}, {}],
    ["there is no wish", {}, undefined],
    ["this process does not know the time zone", {}, { schedule: { ...schedule, timeZone: "Mars/Olympus" } }],
  ])("does not sleep by it while %s", (_rule, spec, wish) => {
    const environment = environmentFixture({ spec });
    expect(nextSleep(environment, { wish, now: new Date(NIGHT), isServing: true })).toBeUndefined();
  });
});

describe("what runs", () => {
  const sleep = (state: SleepStatus["state"]) =>
    environmentFixture({ status: { sleep: { state, since: MORNING, cause: "schedule", schedule } } });

  test("is nothing while it is asleep", () => expect(asRun(sleep("asleep")).spec.suspended).toBe(true));
  test.each(["awake", "waking"] as const)("is the spec while it is %s", (state) => {
    const environment = sleep(state);
    expect(asRun(environment)).toBe(environment);
  });
});

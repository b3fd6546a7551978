import { describe, expect, test } from "@jest/globals";
import { MINUTE_MS } from "../../../../crds/durations.ts";
import type { EnvironmentStatus } from "../../../../crds/environment/ephemeral-environment.ts";
import { asRun, nextSleep, wakeDueAt } from "../../../../crds/environment/sleep.ts";
import { LAST_ACTIVITY_ANNOTATION, REQUESTED_ANNOTATION, WAKE_ANNOTATION } from "../../../../crds/group.ts";
import type { SleepStatus, SleepWish } from "../../../../crds/sleep.schema.ts";
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
const TEN_MINUTES_MS = 10 * MINUTE_MS;

type Given = Partial<SleepStatus> & {
  readonly isServing?: boolean;
  readonly woken?: string;
  readonly requested?: string;
  readonly suspended?: boolean;
  readonly awakeAtLeastMs?: number;
};

const annotated = ({ woken, requested }: Given): Readonly<Record<string, string>> => ({
  ...(woken === undefined ? {} : { [WAKE_ANNOTATION]: woken }),
  ...(requested === undefined ? {} : { [REQUESTED_ANNOTATION]: requested }),
});

function next(now: string, given?: Given, conditions: EnvironmentStatus["conditions"] = []) {
  return nextByWish({ schedule }, now, given, conditions);
}

function nextByWish(
  wish: SleepWish | undefined,
  now: string,
  given?: Given,
  conditions: EnvironmentStatus["conditions"] = [],
) {
  const { isServing = true, woken, requested, suspended, awakeAtLeastMs = TEN_MINUTES_MS, ...sleep } = given ?? {};
  const former = { state: "awake", since: MORNING, cause: "schedule", schedule, ...sleep } as const;
  const environment = environmentFixture({
    spec: suspended === undefined ? {} : { suspended },
    status: { conditions, ...(given === undefined ? {} : { sleep: former }) },
    metadata: { annotations: annotated(given ?? {}) },
  });
  return nextSleep(environment, {
    wish,
    now: new Date(now),
    isServing,
    activity: undefined,
    awakeAtLeastMs,
  });
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

  test("does not heed a request to wake from before its first wish for sleep", () => {
    const environment = environmentFixture({ metadata: { annotations: { [WAKE_ANNOTATION]: "a week ago" } } });
    const input = { wish: { schedule }, isServing: true, activity: undefined, awakeAtLeastMs: TEN_MINUTES_MS };
    const first = nextSleep(environment, { ...input, now: new Date(NIGHT) });
    expect(first).toMatchObject({ state: "awake", since: NIGHT, lastHandledWakeAt: "a week ago" });
    expect(first).not.toHaveProperty("keptAwakeUntil");
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
    expect(next(NIGHT, { isServing: false, suspended: false }, [suspended])).toMatchObject({
      state: "waking",
      cause: "person",
    });
  });

  test.each([
    ["a person has it suspended", { suspended: true }, { schedule }],
    ["its own wish is empty", {}, {}],
    ["a person has it suspended, though it is idle", { suspended: true }, { afterIdleMinutes: 60 }],
    ["there is no wish", {}, undefined],
    ["this process does not know the time zone", {}, { schedule: { ...schedule, timeZone: "Mars/Olympus" } }],
  ])("does not sleep by it while %s", (_rule, spec, wish) => {
    const environment = environmentFixture({ spec });
    expect(
      nextSleep(environment, { wish, now: new Date(NIGHT), isServing: true, activity: undefined, awakeAtLeastMs: 0 }),
    ).toBeUndefined();
  });
});

type IdleInput = Given & {
  readonly wish?: SleepWish;
  readonly lastRequestAt?: string;
  readonly observedSince?: string;
  readonly isUnknown?: boolean;
  readonly read?: string;
  readonly generation?: number;
};

const HOUR_IDLE: SleepWish = { afterIdleMinutes: 60 };

/** Next sleep of an environment that was created at 00:00 and has been observed since. */
function idle(now: string, given: IdleInput = {}) {
  const { isServing = true, woken, read, wish = HOUR_IDLE, generation = 1, isUnknown = false, ...more } = given;
  const {
    lastRequestAt,
    observedSince = at("01T00:00"),
    suspended,
    requested,
    awakeAtLeastMs = TEN_MINUTES_MS,
    ...sleep
  } = more;
  const annotations = {
    ...annotated(given),
    ...(read === undefined ? {} : { [LAST_ACTIVITY_ANNOTATION]: read }),
  };
  const environment = environmentFixture({
    status: { observedGeneration: 1, sleep: { state: "awake", since: at("01T00:00"), ...wish, ...sleep } },
    metadata: { annotations, generation, creationTimestamp: at("01T00:00") },
  });
  const observed = {
    observedSince: new Date(observedSince),
    lastRequestAt: lastRequestAt === undefined ? undefined : new Date(lastRequestAt),
  };
  const activity = isUnknown ? undefined : observed;
  return nextSleep(environment, { wish, now: new Date(now), isServing, activity, awakeAtLeastMs });
}

describe("an environment that sleeps after an idle hour", () => {
  const [BEFORE, AFTER] = [at("01T00:59"), at("01T01:00")];

  test.each([
    ["is awake before", BEFORE, {}, { state: "awake", nextAt: AFTER }],
    ["sleeps then", AFTER, {}, { state: "asleep", cause: "idle", since: AFTER }],
    [
      "counts from its last request",
      AFTER,
      { lastRequestAt: at("01T00:20") },
      { state: "awake", nextAt: at("01T01:20") },
    ],
    ["counts from when it was read", AFTER, { read: at("01T00:20") }, { state: "awake", nextAt: at("01T01:20") }],
    [
      "counts from the reported activity",
      AFTER,
      { lastActivityAt: at("01T00:20") },
      { state: "awake", lastActivityAt: at("01T00:20"), nextAt: at("01T01:20") },
    ],
    ["counts from its wake", AFTER, { since: at("01T00:30") }, { state: "awake", nextAt: at("01T01:30") }],
    [
      "counts only the time in which requests are known",
      AFTER,
      { observedSince: at("01T00:40") },
      { state: "awake", nextAt: at("01T01:40") },
    ],
    ["does not while requests are not known", AFTER, { isUnknown: true }, { state: "awake" }],
    ["does not while an update goes on, which is activity", AFTER, { isServing: false }, { lastActivityAt: AFTER }],
    ["takes a change of its spec for activity", AFTER, { generation: 2 }, { state: "awake", lastActivityAt: AFTER }],
    ["takes no time of the future for activity", AFTER, { read: NOON }, { lastActivityAt: AFTER }],
    [
      "reports activity in steps of five minutes",
      at("01T00:24"),
      { lastActivityAt: at("01T00:20"), lastRequestAt: at("01T00:24") },
      { lastActivityAt: at("01T00:20"), nextAt: at("01T01:20") },
    ],
    [
      "reports activity that keeps it awake",
      at("01T01:20"),
      { lastActivityAt: at("01T00:20"), lastRequestAt: at("01T00:24") },
      { state: "awake", lastActivityAt: at("01T00:24"), nextAt: at("01T01:24") },
    ],
    [
      "wakes when a person wants it",
      NOON,
      { state: "asleep", cause: "idle", woken: "please", isServing: false },
      { state: "waking", cause: "person", since: NOON, lastHandledWakeAt: "please" },
    ],
    [
      "stays asleep through activity that is no wake",
      NOON,
      { state: "asleep", cause: "idle", read: NOON, lastRequestAt: NOON, generation: 2 },
      { state: "asleep", cause: "idle", since: at("01T00:00") },
    ],
    [
      "wakes when its wish for idleness goes",
      NOON,
      { state: "asleep", cause: "idle", wish: { schedule } },
      { state: "waking", cause: "schedule" },
    ],
  ] as const)("%s", (_rule, now, given, expected) => {
    expect(idle(now, given)).toMatchObject(expected);
  });

  test("has no next change while requests are not known", () => {
    expect(idle(AFTER, { isUnknown: true })).not.toHaveProperty("nextAt");
  });

  const both = { schedule, afterIdleMinutes: 60 };

  test.each([
    [
      "is idle within its hours, until the next ones begin",
      NOON,
      {},
      { state: "asleep", cause: "idle", nextAt: FRIDAY },
    ],
    [
      "stays asleep for the rest of the hours",
      NOON,
      { state: "asleep", cause: "idle", nextAt: FRIDAY },
      { state: "asleep", cause: "idle", nextAt: FRIDAY },
    ],
    [
      "wakes when the next hours begin",
      FRIDAY,
      { state: "asleep", cause: "idle", nextAt: FRIDAY },
      { state: "waking", cause: "schedule" },
    ],
    [
      "sleeps at the end of its hours, however busy it is",
      EVENING,
      { lastRequestAt: EVENING },
      { state: "asleep", cause: "schedule", nextAt: FRIDAY },
    ],
    [
      "has the earlier of both as its next change",
      NOON,
      { lastRequestAt: at("01T11:30") },
      { state: "awake", cause: "schedule", nextAt: at("01T12:30") },
    ],
    [
      "sleeps when idle, though a person keeps it awake",
      NIGHT,
      { cause: "person", keptAwakeUntil: FRIDAY_EVENING },
      { state: "asleep", cause: "idle", nextAt: FRIDAY },
    ],
  ] as const)("with hours, it %s", (_rule, now, given, expected) => {
    expect(idle(now, { wish: both, ...given })).toMatchObject(expected);
  });

  test("does not wake again for the person who woke it before it was idle", () => {
    const sleeping = idle(NIGHT, { wish: both, cause: "person", keptAwakeUntil: FRIDAY_EVENING });
    expect(sleeping).not.toHaveProperty("keptAwakeUntil");
    expect(idle(NIGHT, { ...sleeping, wish: both })).toEqual(sleeping);
  });
});

describe("an environment that nothing lets sleep any more", () => {
  const never = (given: Given, wish?: SleepWish) => nextByWish(wish, NIGHT, given);
  const asleep = { state: "asleep", since: EVENING, nextAt: FRIDAY, isServing: false } as const;

  test.each([
    ["was removed", undefined],
    ["is empty", {}],
    ["has a time zone that is not known", { schedule: { timeZone: "Mars/Olympus", awake: ["Mon-Fri 08:00-19:00"] } }],
  ])("wakes where its wish %s, is waking until it answers, and has no sleep from then on", (_, wish) => {
    const waking = { state: "waking", since: NIGHT, cause: "schedule" } as const;
    expect(never(asleep, wish)).toEqual(waking);
    expect(never({ ...waking, since: EVENING, isServing: false }, wish)).toEqual({ ...waking, since: EVENING });
    expect(never(waking, wish)).toBeUndefined();
    expect(never({}, wish)).toBeUndefined();
  });

  test("wakes for a person where one wants it", () => {
    expect(never({ ...asleep, woken: "now" })).toMatchObject({ state: "waking", cause: "person" });
  });

  test("has no sleep while a person has it suspended", () => {
    expect(never({ ...asleep, suspended: true })).toBeUndefined();
  });
});

describe("an environment that need not stay awake", () => {
  const atOnce = { awakeAtLeastMs: 0 } as const;

  test.each([
    ["sleeps as soon as it serves", { since: NIGHT }, { state: "asleep", since: NIGHT }],
    ["stays awake until it serves", { since: NIGHT, isServing: false }, { state: "awake", since: NIGHT }],
    [
      "is kept awake by a person",
      { since: NIGHT, cause: "person", keptAwakeUntil: FRIDAY_EVENING },
      { state: "awake", nextAt: FRIDAY_EVENING },
    ],
    [
      "is kept awake by a request",
      { since: NIGHT, cause: "request", keptAwakeUntil: at("02T00:00") },
      { state: "awake", nextAt: at("02T00:00") },
    ],
  ] as const)("%s", (_rule, given, expected) => {
    expect(next(NIGHT, { ...atOnce, ...given })).toMatchObject(expected);
  });

  test("sleeps by this clock, also where the API server's is ahead and it was created later", () => {
    const [since, now] = ["2025-12-31T22:00:00.000Z", "2025-12-31T23:00:00.000Z"];
    expect(next(now, { since })).toMatchObject({ state: "asleep", since: now });
  });

  test("is still idle only after its idle time", () => {
    const woken = { ...atOnce, since: at("01T11:30") };
    expect(idle(NOON, woken)).toMatchObject({ state: "awake", nextAt: at("01T12:30") });
  });
});

describe("a request to an environment outside its hours", () => {
  const REQUESTED = "2026-01-01T22:59:59.001Z";
  const LATER = at("02T00:00");
  const asleep = { state: "asleep", since: EVENING, requested: REQUESTED, isServing: false } as const;

  test("wakes it, and keeps it awake for an hour", () => {
    const waking = next(NIGHT, asleep);
    expect(waking).toMatchObject({ state: "waking", cause: "request", since: NIGHT, keptAwakeUntil: LATER });
    const awake = next(at("01T23:02"), { ...waking, requested: REQUESTED });
    expect(awake).toMatchObject({ state: "awake", cause: "request", keptAwakeUntil: LATER, nextAt: LATER });
    const last = { ...awake, requested: REQUESTED };
    expect(next(at("01T23:59"), last)).toMatchObject({ state: "awake" });
    const sleeping = next(LATER, last);
    expect(sleeping).toMatchObject({ state: "asleep", cause: "schedule", since: LATER, nextAt: FRIDAY });
    expect(sleeping).not.toHaveProperty("keptAwakeUntil");
  });

  test.each([
    ["that it was asleep at", { requested: "2026-01-01T18:00:00.001Z" }, "waking"],
    ["of the moment at which it fell asleep", { requested: EVENING }, "asleep"],
    ["of before it fell asleep", { requested: NOON }, "asleep"],
    ["half a minute ahead, by another clock", { requested: "2026-01-01T23:00:30.000Z" }, "waking"],
    ["more than a minute ahead", { requested: "2026-01-01T23:01:00.001Z" }, "asleep"],
    ["that names no time", { requested: "now" }, "asleep"],
    ["that is empty", { requested: "" }, "asleep"],
  ] as const)("%s", (_rule, given, state) => {
    expect(next(NIGHT, { ...asleep, ...given })).toMatchObject({ state });
  });

  test("changes nothing while it is awake, nor when it sleeps again", () => {
    const awake = { state: "awake", since: at("01T22:30"), cause: "request", keptAwakeUntil: LATER } as const;
    expect(next(NIGHT, { ...awake, requested: NIGHT })).toEqual(next(NIGHT, awake));
    const ahead = "2026-01-02T00:00:30.000Z";
    expect(next(LATER, { ...awake, requested: ahead })).toMatchObject({ state: "awake", nextAt: ahead });
    const sleeping = next(ahead, { ...awake, requested: ahead });
    expect(sleeping).toMatchObject({ state: "asleep", since: ahead });
    expect(next(at("02T00:01"), { ...sleeping, requested: ahead })).toEqual(sleeping);
  });

  test("wakes it again, and counts no longer once its hours begin", () => {
    const again = at("02T00:30");
    const sleeping = { ...asleep, since: LATER, requested: again } as const;
    expect(next(again, sleeping)).toMatchObject({ state: "waking", keptAwakeUntil: at("02T01:30") });
    const kept = { state: "awake", since: at("02T06:30"), cause: "request", keptAwakeUntil: at("02T07:30") } as const;
    const working = next(FRIDAY, kept);
    expect(working).toMatchObject({ state: "awake", cause: "schedule", nextAt: FRIDAY_EVENING });
    expect(working).not.toHaveProperty("keptAwakeUntil");
  });

  test("does not wake what a person has suspended", () => {
    expect(next(NIGHT, { ...asleep, suspended: true })).toBeUndefined();
  });

  test("leaves it to a person who wakes it, too", () => {
    const kept = { state: "awake", since: at("01T22:30"), cause: "request", keptAwakeUntil: LATER } as const;
    const woken = next(NIGHT, { ...kept, woken: "please" });
    expect(woken).toMatchObject({ state: "awake", cause: "person", keptAwakeUntil: FRIDAY_EVENING });
    expect(next(at("02T00:30"), { ...woken, woken: "please" })).toMatchObject({ state: "awake", cause: "person" });
    expect(next(NIGHT, { ...asleep, woken: "please" })).toMatchObject({ cause: "person" });
  });

  test("is the cause within its hours until it answers", () => {
    const idleSince = { state: "asleep", cause: "idle", since: at("01T11:00"), nextAt: FRIDAY } as const;
    const wish = { schedule, afterIdleMinutes: 60 };
    const waking = idle(NOON, { ...idleSince, wish, requested: NOON, isServing: false });
    expect(waking).toMatchObject({ state: "waking", cause: "request", lastActivityAt: NOON });
    expect(waking).not.toHaveProperty("keptAwakeUntil");
    const still = { ...waking, wish, requested: NOON, isServing: false };
    expect(idle(at("01T12:01"), still)).toMatchObject({ state: "waking", cause: "request" });
    expect(idle(at("01T12:01"), { ...still, isServing: true })).toMatchObject({ state: "awake", cause: "schedule" });
  });
});

describe("a request to an environment that was idle", () => {
  const asleep = { state: "asleep", cause: "idle", since: at("01T02:00"), requested: NOON } as const;

  test("wakes it until it is idle again", () => {
    const waking = idle(NOON, { ...asleep, isServing: false });
    expect(waking).toMatchObject({ state: "waking", cause: "request", since: NOON, lastActivityAt: NOON });
    expect(waking).not.toHaveProperty("keptAwakeUntil");
    const awake = idle(at("01T12:01"), { ...waking, requested: NOON });
    expect(awake).toMatchObject({ state: "awake", cause: "request", nextAt: at("01T13:00") });
    const last = { ...awake, requested: NOON };
    expect(idle(at("01T13:01"), last)).toMatchObject({ state: "asleep", cause: "idle" });
  });

  const both = { schedule, afterIdleMinutes: 30 };
  const kept = { wish: both, state: "awake", since: NIGHT, cause: "request", lastActivityAt: NIGHT } as const;

  test("outside its hours, it is idleness that counts while requests are known", () => {
    const used = { ...kept, keptAwakeUntil: at("02T00:00"), lastRequestAt: at("01T23:50") };
    const busy = idle(at("01T23:51"), used);
    expect(busy).toMatchObject({ state: "awake", keptAwakeUntil: at("02T00:50"), nextAt: at("02T00:20") });
    expect(idle(at("02T00:20"), { ...used, ...busy, wish: both })).toMatchObject({ state: "asleep", cause: "idle" });
  });

  test("outside its hours, it is an hour after the last activity while they are not", () => {
    const unknown = { ...kept, keptAwakeUntil: at("02T00:00"), isUnknown: true };
    expect(idle(at("01T23:50"), unknown)).toMatchObject({ state: "awake", nextAt: at("02T00:00") });
    expect(idle(at("02T00:00"), unknown)).toMatchObject({ state: "asleep", cause: "schedule" });
  });

  test("outside its hours, a longer idle time is kept, too", () => {
    const wish = { schedule, afterIdleMinutes: 120 };
    const waking = idle(NIGHT, { ...asleep, wish, requested: NIGHT, isServing: false });
    expect(waking).toMatchObject({ state: "waking", keptAwakeUntil: at("02T01:00") });
  });
});

describe("an environment outside its hours", () => {
  test("sleeps five minutes after a person read its log", () => {
    const read = (now: string) => idle(now, { wish: { schedule }, read: at("01T22:57"), isUnknown: true });
    expect(read(NIGHT)).toMatchObject({ state: "awake", nextAt: at("01T23:02") });
    expect(read(at("01T23:02"))).toMatchObject({ state: "asleep", cause: "schedule" });
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

describe("a sleeping environment is to wake", () => {
  const due = (given: Partial<SleepStatus> & { readonly requested?: string; readonly suspended?: boolean } = {}) => {
    const { requested, suspended = false, ...sleep } = given;
    const environment = environmentFixture({
      spec: { suspended },
      status: { sleep: { state: "asleep", since: EVENING, cause: "schedule", ...sleep } },
      metadata: { annotations: annotated(requested === undefined ? {} : { requested }) },
    });
    return wakeDueAt(environment, new Date(FRIDAY))?.toISOString();
  };

  test.each<[string, Parameters<typeof due>[0], string | undefined]>([
    ["from the begin of its hours on", { nextAt: FRIDAY }, FRIDAY],
    ["from a request on", { requested: NIGHT, nextAt: FRIDAY_EVENING }, NIGHT],
    ["from the first of both on", { requested: NIGHT, nextAt: FRIDAY }, NIGHT],
    ["by no request from before its sleep", { requested: NOON }, undefined],
    ["by nothing before its hours", { nextAt: FRIDAY_EVENING }, undefined],
    ["by neither while a person has it suspended", { requested: NIGHT, nextAt: FRIDAY, suspended: true }, undefined],
    ["no more once it is awake", { state: "awake", nextAt: FRIDAY }, undefined],
  ])("%s", (_what, given, expected) => {
    expect(due(given)).toBe(expected);
  });
});

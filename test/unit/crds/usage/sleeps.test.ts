import { describe, expect, test } from "@jest/globals";
import type { EnvironmentStatus, EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { MOST_SLEEPS } from "../../../../crds/environment/past-sleep.schema.ts";
import { specHash } from "../../../../crds/environment/progress.ts";
import { REQUESTED_ANNOTATION } from "../../../../crds/group.ts";
import type { SleepStatus } from "../../../../crds/sleep.schema.ts";
import { chargeOf, totalsOf } from "../../../../crds/usage/period-summary.ts";
import { priceOf } from "../../../../crds/usage/price.ts";
import { NOT_SLEPT, type PastSleeps, type Slept, sleepsAfter, wakesOf } from "../../../../crds/usage/sleeps.ts";
import { usageOfEnvironment, usageOfRecord } from "../../../../crds/usage/usage-record.ts";
import { commitA, environmentFixture } from "../../../support/fixtures/environment/environment-fixture.ts";

const HOUR_S = 3_600;
/** Hours since the creation of the fixture, at midnight. */
const at = (hours: number) => new Date(Date.UTC(2026, 0, 1) + hours * 3_600_000).toISOString();
const atMs = (hours: number) => Date.parse(at(hours));
const period = (from: number, to: number) => ({ fromMs: atMs(from), toMs: atMs(to) });

const AWAKE = { cpuMillicores: 1_000, memoryMebibytes: 1_024, storageMebibytes: 2_048 };
const AT_REST = { cpuMillicores: 0, memoryMebibytes: 0, storageMebibytes: 2_048 };
/** Awake from 1, asleep from 20 to 30 and from 44. */
const usage = [
  { since: at(1), ...AWAKE },
  { since: at(20), ...AT_REST },
  { since: at(30), ...AWAKE },
  { since: at(44), ...AT_REST },
];
const sleeps: PastSleeps = [
  { since: at(20), cause: "schedule", awake: AWAKE, until: at(30), wokenBy: "schedule", awakeAt: at(30.01) },
  { since: at(44), cause: "idle", awake: AWAKE },
];
const sleeper = environmentFixture({ status: { usage, sleeps } });

const FIELDS = Object.keys(NOT_SLEPT) as (keyof Slept)[];
const sleptOf = (totals: Slept): Slept =>
  Object.assign({ ...NOT_SLEPT }, ...FIELDS.map((field) => ({ [field]: totals[field] })));
const slept = (environment: EphemeralEnvironment, from: number, to: number, now: number) =>
  sleptOf(totalsOf(usageOfEnvironment(environment), period(from, to), atMs(now)));
const saved = (hours: number) => ({
  savedSeconds: hours * HOUR_S,
  savedCpu: hours * HOUR_S * AWAKE.cpuMillicores,
  savedMemory: hours * HOUR_S * AWAKE.memoryMebibytes,
  savedStorage: 0,
});

describe("what sleep saved", () => {
  test.each([
    ["a night, by the part before midnight", 0, 24, { scheduleSleepSeconds: 4 * HOUR_S, ...saved(4) }],
    ["a night, by the part after midnight", 24, 44, { scheduleSleepSeconds: 6 * HOUR_S, ...saved(6) }],
    ["a time within it", 21, 22, { scheduleSleepSeconds: HOUR_S, ...saved(1) }],
    ["a sleep that goes on, until now", 44, 100, { idleSleepSeconds: 6 * HOUR_S, ...saved(6) }],
    ["all of it", 0, 100, { scheduleSleepSeconds: 10 * HOUR_S, idleSleepSeconds: 6 * HOUR_S, ...saved(16) }],
    ["a time awake", 31, 43, {}],
  ])("is that of %s", (_what, from, to, expected) => {
    expect(slept(sleeper, from, to, 50)).toEqual({ ...NOT_SLEPT, ...expected });
  });

  test("of days adds up to that of the whole", () => {
    const parts = [0, 24, 48].map((from) => slept(sleeper, from, from + 24, 60));
    const sum = parts.reduce((seconds, { savedCpu }) => seconds + savedCpu, 0);
    expect(sum).toBe(slept(sleeper, 0, 72, 60).savedCpu);
  });

  test("ends with the request to delete what sleeps, also by its record", () => {
    const metadata = { ...sleeper.metadata, deletionTimestamp: at(46) };
    expect(slept({ ...sleeper, metadata }, 40, 100, 50)).toEqual({
      ...NOT_SLEPT,
      idleSleepSeconds: 2 * HOUR_S,
      ...saved(2),
    });
    const record = usageOfRecord({
      name: "shop",
      uid: "x",
      reason: "deleted",
      teardownSeconds: HOUR_S,
      createdAt: at(0),
      deletedAt: at(46),
      goneAt: at(47),
      usage,
      sleeps,
    });
    expect(sleptOf(totalsOf(record, period(40, 100), atMs(90)))).toMatchObject({ idleSleepSeconds: 2 * HOUR_S });
  });

  test("is unknown where requests are: the hours are known", () => {
    const unpriced = environmentFixture({ status: { usage, sleeps: [{ since: at(44), cause: "person" }] } });
    expect(slept(unpriced, 0, 100, 50)).toEqual({ ...NOT_SLEPT, personSleepSeconds: 6 * HOUR_S });
  });

  test("is no cost: what sleeps costs its volumes alone", () => {
    const prices = { cpuCoreHour: 1, memoryGibHour: 1, storageGibHour: 1 };
    const charged = chargeOf(usageOfEnvironment(sleeper), period(21, 29), atMs(50));
    expect(priceOf(charged, prices)).toEqual({ cpu: 0, memory: 0, storage: 8 * 2 * 100, other: 0 });
  });
});

const schedule = { timeZone: "UTC", awake: ["Mon-Sun 08:00-20:00"] };
const sleepState = (state: SleepStatus["state"], since: number, cause: SleepStatus["cause"] = "schedule") => ({
  sleep: { state, since: at(since), cause, schedule },
});
const spec = environmentFixture().spec;
const serving: EnvironmentStatus = {
  usage: [usage[0] as (typeof usage)[number]],
  desiredHash: "hash",
  servingHash: "hash",
  renderedSpecHash: specHash(spec),
  components: { backend: { commit: commitA, revision: "1+hash" } },
  sources: { backend: { applied: { branch: "main", commit: commitA } } },
} as EnvironmentStatus;
const notServing: EnvironmentStatus = { ...serving, servingHash: "" };

interface Moment {
  readonly now: number;
  readonly status: EnvironmentStatus;
  readonly isSuspended?: boolean;
  readonly requestedAt?: string;
}

/** Sleeps after reconciles at these moments, each after a restart of the operator: only the status is kept. */
function reconciled(...moments: readonly Moment[]): PastSleeps | undefined {
  return moments.reduce<PastSleeps | undefined>((known, { now, status, isSuspended = false, requestedAt }) => {
    const stored = JSON.parse(JSON.stringify({ ...status, ...(known && { sleeps: known }) })) as EnvironmentStatus;
    const environment = environmentFixture({
      spec: isSuspended ? { suspended: true } : {},
      status: stored,
      metadata: requestedAt === undefined ? {} : { annotations: { [REQUESTED_ANNOTATION]: requestedAt } },
    });
    return sleepsAfter(environment, stored, new Date(at(now)));
  }, undefined);
}

describe("the sleeps of an environment", () => {
  const asleep = { now: 20, status: { ...serving, ...sleepState("asleep", 20) } };
  const atRest = { now: 21, status: { ...notServing, usage, ...sleepState("asleep", 20) } };
  const waking = (now: number, cause: SleepStatus["cause"] = "schedule") => ({
    now,
    status: { ...notServing, ...sleepState("waking", 30, cause) },
  });
  const awake = (now: number) => ({ now, status: { ...serving, ...sleepState("awake", 31) } });
  const night = { since: at(20), cause: "schedule", awake: AWAKE };

  test("are none while it is awake", () => {
    expect(reconciled(awake(10))).toBeUndefined();
  });

  test("begin with the state, know what it requested before, and stay while it lasts", () => {
    expect(reconciled(asleep)).toEqual([night]);
    expect(reconciled(asleep, atRest, atRest)).toEqual([night]);
  });

  test("that another release began are known by the state", () => {
    expect(reconciled({ now: 26, status: { ...notServing, usage, ...sleepState("asleep", 20) } })).toEqual([night]);
  });

  test("end when it wakes, and the wake when it answers", () => {
    const woken = { ...night, until: at(30), wokenBy: "schedule" };
    expect(reconciled(asleep, waking(30))).toEqual([woken]);
    expect(reconciled(asleep, waking(30), waking(30.5))).toEqual([woken]);
    expect(reconciled(asleep, waking(30), waking(30.5), awake(31), awake(32))).toEqual([{ ...woken, awakeAt: at(31) }]);
  });

  test("by a person last until it is resumed, without a wish for sleep, too", () => {
    const suspended = (now: number) => ({ now, status: notServing, isSuspended: true });
    const first = { now: 5, status: serving, isSuspended: true };
    const rest = { since: at(5), cause: "person", awake: AWAKE };
    expect(reconciled(first, suspended(6))).toEqual([rest]);
    const resumed = { ...rest, until: at(7), wokenBy: "person" };
    expect(reconciled(first, suspended(6), { now: 7, status: notServing })).toEqual([resumed]);
    expect(reconciled(first, suspended(6), { now: 7, status: notServing }, { now: 8, status: serving })).toEqual([
      { ...resumed, awakeAt: at(8) },
    ]);
  });

  test("of another cause follow each other without a wake, with what it requested awake", () => {
    const suspended = { now: 22, status: { ...notServing, usage }, isSuspended: true };
    expect(reconciled(asleep, suspended)).toEqual([
      { ...night, until: at(22) },
      { since: at(22), cause: "person", awake: AWAKE },
    ]);
  });

  test.each([
    ["counts from the request", at(29.9), { requestedAt: at(29.9) }],
    ["counts from the begin of waking where the time of the request is not known", undefined, {}],
    ["counts from the begin of waking where the request is older than the sleep", at(19), {}],
    ["counts from the begin of waking where the request is in the future", at(31), {}],
    ["counts from the begin of waking where the time is none", "soon", {}],
  ])("a wake by a request %s", (_rule, requestedAt, expected) => {
    const status = { ...notServing, ...sleepState("waking", 30, "request") };
    const moment = { now: 30, status, ...(requestedAt !== undefined && { requestedAt }) };
    expect(reconciled(asleep, moment)).toEqual([{ ...night, until: at(30), wokenBy: "request", ...expected }]);
  });

  test("are bounded: the oldest go", () => {
    const days = Array.from({ length: MOST_SLEEPS + 3 }, (_, day) => [
      { now: 24 * day + 20, status: { ...serving, ...sleepState("asleep", 24 * day + 20) } },
      waking(24 * day + 30),
      awake(24 * day + 31),
    ]);
    const kept = reconciled(...days.flat()) ?? [];
    expect(kept).toHaveLength(MOST_SLEEPS);
    expect(kept[0]?.since).toBe(at(24 * 3 + 20));
  });
});

test("wakes begin with their request, and end when it answers or sleeps again", () => {
  const woken = { cause: "schedule", until: at(2), wokenBy: "person" } as const;
  expect(
    wakesOf([
      { since: at(1), ...woken, wokenBy: "request", requestedAt: at(1.9), awakeAt: at(2.1) },
      { since: at(1), cause: "schedule", until: at(2) },
      { since: at(1), ...woken },
      { since: at(4), cause: "person" },
    ]),
  ).toEqual([
    { beginMs: atMs(1.9), awakeMs: atMs(2.1), nextSleepMs: atMs(1) },
    { beginMs: atMs(2), awakeMs: undefined, nextSleepMs: atMs(4) },
  ]);
});

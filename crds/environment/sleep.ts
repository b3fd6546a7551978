import { findCondition } from "../conditions.ts";
import { MINUTE_MS } from "../durations.ts";
import { wakeToken } from "../group.ts";
import { present } from "../present.ts";
import type { SleepSchedule, SleepStatus, SleepWish } from "../sleep.schema.ts";
import { isTimeZone, scheduleAt } from "../sleep-schedule.ts";
import type { EphemeralEnvironment } from "./ephemeral-environment.ts";

/** Nothing falls asleep so soon after its creation, or after it woke. */
const AWAKE_AT_LEAST_MS = 10 * MINUTE_MS;

/** True while its schedule has the environment asleep. */
export function isAsleep({ status }: EphemeralEnvironment): boolean {
  return status?.sleep?.state === "asleep";
}

/** State of sleep for users: also a person may have it asleep. */
export function sleepState({ spec, status }: EphemeralEnvironment): SleepStatus["state"] {
  return spec.suspended ? "asleep" : (status?.sleep?.state ?? "awake");
}

/** The environment as it should run: one that is asleep, like a suspended one. */
export function asRun(environment: EphemeralEnvironment): EphemeralEnvironment {
  return isAsleep(environment) ? { ...environment, spec: { ...environment.spec, suspended: true } } : environment;
}

/** Input of the next state of sleep. */
export interface SleepInput {
  /** The wish in effect: the environment's own, or else a default. */
  readonly wish: SleepWish | undefined;
  readonly now: Date;
  /** True while what the spec asks for runs and answers, awake: no update goes on. */
  readonly isServing: boolean;
}

/** Next sleep of an environment; `undefined` without a schedule, and while a person has it suspended. */
export function nextSleep(environment: EphemeralEnvironment, input: SleepInput): SleepStatus | undefined {
  const schedule = input.wish?.schedule;
  // Another release may have accepted the time zone.
  if (schedule === undefined || !isTimeZone(schedule.timeZone) || environment.spec.suspended) return undefined;
  const { now } = input;
  const { isAwake, changesAt } = scheduleAt(schedule, now);
  const { token, keptAwakeUntil } = wishOfPerson(environment, schedule, now);
  const isKept = !isAwake && keptAwakeUntil !== undefined;
  const awakeUntil = isKept ? keptAwakeUntil : changesAt;
  const sleep =
    isAwake || isKept ? awake(environment, { ...input, awakeUntil }) : atRest(environment, input, changesAt);
  return {
    ...sleep,
    cause: isKept ? "person" : "schedule",
    schedule,
    ...present({ keptAwakeUntil: keptAwakeUntil?.toISOString(), lastHandledWakeAt: token }),
  };
}

type Movement = Pick<SleepStatus, "state" | "since" | "nextAt">;

function moved(former: SleepStatus | undefined, state: SleepStatus["state"], now: Date): Movement {
  return { state, since: state === former?.state ? former.since : now.toISOString() };
}

/** Within its hours, or as a person wants it. */
function awake(
  environment: EphemeralEnvironment,
  { isServing, now, awakeUntil }: SleepInput & { readonly awakeUntil: Date | undefined },
): Movement {
  const former = environment.status?.sleep;
  const isWaking = former?.state === "asleep" || (former?.state === "waking" && !isServing);
  const movement = moved(former, isWaking ? "waking" : "awake", now);
  const earliest = earliestSleep(environment, movement.since);
  const sleepsAt = awakeUntil === undefined || awakeUntil > earliest ? awakeUntil : earliest;
  return { ...movement, ...present({ nextAt: sleepsAt?.toISOString() }) };
}

/** Outside its hours: an update and a wake end first, and it stays awake for a while after both. */
function atRest(environment: EphemeralEnvironment, input: SleepInput, wakesAt: Date | undefined): Movement {
  const { now, isServing } = input;
  const former = environment.status?.sleep;
  const asleep = { ...moved(former, "asleep", now), ...present({ nextAt: wakesAt?.toISOString() }) };
  if (former?.state === "asleep") return asleep;
  const movement = awake(environment, { ...input, awakeUntil: now });
  if (former === undefined || movement.state !== former.state) return movement;
  const { nextAt: _, ...staying } = movement;
  const isDue = earliestSleep(environment, former.since) <= now;
  if (isDue) return isServing ? asleep : staying;
  return movement;
}

function earliestSleep({ metadata }: EphemeralEnvironment, awakeSince: string): Date {
  return new Date(Math.max(Date.parse(metadata.creationTimestamp), Date.parse(awakeSince)) + AWAKE_AT_LEAST_MS);
}

interface WishOfPerson {
  readonly token: string | undefined;
  readonly keptAwakeUntil: Date | undefined;
}

/** A person who wakes or resumes it outside its hours has it until the end of the next ones. */
function wishOfPerson(environment: EphemeralEnvironment, schedule: SleepSchedule, now: Date): WishOfPerson {
  const former = environment.status?.sleep;
  const token = wakeToken(environment);
  const isWoken = token !== undefined && token !== former?.lastHandledWakeAt;
  const isResumed = findCondition(environment.status?.conditions, "Suspended") !== undefined;
  if (isWoken || isResumed) return { token, keptAwakeUntil: endOfNextHours(schedule, now) };
  const until = former?.keptAwakeUntil === undefined ? undefined : new Date(former.keptAwakeUntil);
  return { token, keptAwakeUntil: until !== undefined && until > now ? until : undefined };
}

/** `undefined` within the hours, whose end counts anyway. */
function endOfNextHours(schedule: SleepSchedule, now: Date): Date | undefined {
  const { isAwake, changesAt } = scheduleAt(schedule, now);
  return isAwake || changesAt === undefined ? undefined : scheduleAt(schedule, changesAt).changesAt;
}

import { findCondition } from "../conditions.ts";
import { HOUR_MS, MINUTE_MS } from "../durations.ts";
import { lastActivityOf, requestedAtOf, wakeToken } from "../group.ts";
import { present } from "../present.ts";
import type { SleepSchedule, SleepStatus, SleepWish } from "../sleep.schema.ts";
import { isTimeZone, type ScheduleState, scheduleAt } from "../sleep-schedule.ts";
import type { EphemeralEnvironment } from "./ephemeral-environment.ts";

/** Nothing falls asleep so soon after a person read its log; a log stream says so again within this time. */
const READ_MS = 5 * MINUTE_MS;
/** The status follows activity in steps of this length. */
const REPORT_MS = 5 * MINUTE_MS;
/** A request that wakes it outside its hours keeps it awake for so long, or for its idle time, whichever is longer. */
const REQUEST_KEEPS_MS = HOUR_MS;

/** True while its schedule, or idleness, has the environment asleep. */
export function isAsleep({ status }: Pick<EphemeralEnvironment, "status">): boolean {
  return status?.sleep?.state === "asleep";
}

/** True once its chart is scaled to zero, asleep or suspended, and until it is awake again. */
export function isScaledToZero(status: EphemeralEnvironment["status"]): boolean {
  return (["Suspended", "Asleep"] as const).some((type) => findCondition(status?.conditions, type) !== undefined);
}

/** State of sleep for users: also a person may have it asleep. */
export function sleepState({ spec, status }: EphemeralEnvironment): SleepStatus["state"] {
  return spec.suspended ? "asleep" : (status?.sleep?.state ?? "awake");
}

/** Cause of an environment's sleep; `undefined` while it is awake. */
export function sleepCause(environment: Pick<EphemeralEnvironment, "spec" | "status">): SleepStatus["cause"] {
  if (environment.spec.suspended) return "person";
  return isAsleep(environment) ? environment.status?.sleep?.cause : undefined;
}

/** The environment as it should run: one that is asleep, like a suspended one. */
export function asRun(environment: EphemeralEnvironment): EphemeralEnvironment {
  return isAsleep(environment) ? { ...environment, spec: { ...environment.spec, suspended: true } } : environment;
}

/** Requests to an environment, as they were counted. */
export interface ObservedActivity {
  /** Requests before this are not known. */
  readonly observedSince: Date;
  readonly lastRequestAt?: Date | undefined;
}

/**
 * Time of the request that a sleeping environment is to wake for, or of the begin of its hours, whichever was first;
 * `undefined` for one that sleeps on, or is awake.
 */
export function wakeDueAt(environment: EphemeralEnvironment, now: Date): Date | undefined {
  const { metadata, spec, status } = environment;
  if (!isAsleep(environment) || spec.suspended || metadata.deletionTimestamp !== undefined) return undefined;
  const { since = "", nextAt } = status?.sleep ?? {};
  const requestedAt = requestedAtOf(environment, now);
  const isRequested = requestedAt !== undefined && requestedAt > new Date(since);
  const begun = nextAt !== undefined && Date.parse(nextAt) <= now.getTime() ? new Date(nextAt) : undefined;
  return isRequested && (begun === undefined || requestedAt < begun) ? requestedAt : begun;
}

/** Input of the next state of sleep. */
export interface SleepInput {
  /** The wish in effect: the environment's own, or else a default. */
  readonly wish: SleepWish | undefined;
  readonly now: Date;
  /** True while what the spec asks for runs and answers, awake: no update goes on. */
  readonly isServing: boolean;
  /** `undefined` while requests are not known: nothing is idle. */
  readonly activity: ObservedActivity | undefined;
  /** Time for which nothing falls asleep after its creation, and after it woke, in milliseconds. */
  readonly awakeAtLeastMs: number;
}

/**
 * Next sleep of an environment; `undefined` without a wish, once it is awake, and while a person has it suspended. One that
 * has lost its wish in its sleep wakes.
 */
export function nextSleep(environment: EphemeralEnvironment, input: SleepInput): SleepStatus | undefined {
  if (environment.spec.suspended) return undefined;
  const wish = effectiveWish(input.wish);
  const hours = wish.schedule && scheduleAt(wish.schedule, input.now);
  const person = wishOfPerson(environment, wish.schedule, input.now);
  const former = environment.status?.sleep;
  const moment = { ...input, environment, former, wish, hours, person };
  if (wish === NEVER && (former?.state ?? "awake") === "awake") return undefined;
  const movement = former?.state === "asleep" ? stayOrWake(moment, former) : stayOrSleep(moment);
  if (wish === NEVER && movement.state === "awake") return undefined;
  return { ...movement, ...wish, ...present({ lastHandledWakeAt: person.token }) };
}

const NEVER: SleepWish = {};

/** `NEVER` where nothing lets it sleep; another release may have accepted the time zone. */
function effectiveWish({ schedule, ...idleness }: SleepWish = NEVER): SleepWish {
  if (schedule !== undefined && isTimeZone(schedule.timeZone)) return { schedule, ...idleness };
  return idleness.afterIdleMinutes === undefined ? NEVER : idleness;
}

interface Moment extends SleepInput {
  readonly environment: EphemeralEnvironment;
  readonly former: SleepStatus | undefined;
  readonly wish: SleepWish;
  /** `undefined` without a schedule. */
  readonly hours: ScheduleState | undefined;
  readonly person: WishOfPerson;
}

type Movement = Pick<SleepStatus, "state" | "since" | "cause" | "nextAt" | "keptAwakeUntil" | "lastActivityAt">;

/** Asleep, until something wakes it. */
function stayOrWake(moment: Moment, former: SleepStatus): Movement {
  const cause = causeOfWake(moment, former);
  if (cause !== undefined) {
    const waking = { ...former, state: "waking", since: moment.now.toISOString(), cause } as const;
    return stayOrSleep({ ...moment, former: waking, isServing: false });
  }
  const reported = present({ lastActivityAt: former.lastActivityAt });
  return { ...atRest(isIdle(moment, former) ? "idle" : "schedule", moment), since: former.since, ...reported };
}

/** Cause of its wake now, if any; what fell asleep within its hours waits for the next ones. */
function causeOfWake(moment: Moment, former: SleepStatus): SleepStatus["cause"] {
  const { environment, hours, person, now } = moment;
  if (person.isWaking) return "person";
  const hasBegun = former.nextAt !== undefined && Date.parse(former.nextAt) <= now.getTime();
  if (isIdle(moment, former) ? hours?.isAwake && hasBegun : hours?.isAwake !== false) return "schedule";
  const requestedAt = requestedAtOf(environment, now);
  return requestedAt !== undefined && requestedAt > new Date(former.since) ? "request" : undefined;
}

function isIdle({ wish }: Moment, former: SleepStatus): boolean {
  return former.cause === "idle" && wish.afterIdleMinutes !== undefined;
}

/** Awake, or falls asleep: an update and a wake end first, and it stays awake for a while after both. */
function stayOrSleep(moment: Moment): Movement {
  const { former, person, now, isServing } = moment;
  const state = (former?.state === "waking" || person.isResuming) && !isServing ? "waking" : "awake";
  const since = state === former?.state ? former.since : now.toISOString();
  const { lastActivityAt, idleAt } = idleness(moment);
  const reported = present({ lastActivityAt: lastActivityAt?.toISOString() });
  const kept = person.keptAwakeUntil ?? keptByRequest(moment, lastActivityAt);
  const due = firstOf([
    { cause: "schedule", at: endOfHours(moment, kept, idleAt) },
    { cause: "idle", at: idleAt },
  ]);
  const sleepsAt = due && latest(due.at, earliestSleep(moment, since));
  const isDue = sleepsAt !== undefined && sleepsAt <= now;
  if (due !== undefined && isDue && isServing) return { ...atRest(due.cause, moment), ...reported };
  const nextAt = isDue ? undefined : sleepsAt?.toISOString();
  const keptAwakeUntil = kept?.toISOString();
  return { state, since, ...present({ cause: causeAwake(moment, state), nextAt, keptAwakeUntil }), ...reported };
}

/** Asleep from now on; the next change is the next begin of its hours. */
function atRest(cause: "schedule" | "idle", { hours, wish, now }: Moment): Movement {
  const end = hours?.isAwake ? hours.changesAt : now;
  const begin = wish.schedule === undefined || end === undefined ? undefined : scheduleAt(wish.schedule, end).changesAt;
  return { state: "asleep", since: now.toISOString(), cause, ...present({ nextAt: begin?.toISOString() }) };
}

/** Cause of its being awake; while it wakes, that of its wake. */
function causeAwake({ hours, person, former }: Moment, state: SleepStatus["state"]): SleepStatus["cause"] {
  const isWaking = state === "waking";
  if (hours?.isAwake && !isWaking) return "schedule";
  const isByPerson = person.keptAwakeUntil !== undefined || (person.isWaking && isWaking);
  return isByPerson ? "person" : former?.cause;
}

interface Due {
  readonly cause: "schedule" | "idle";
  readonly at: Date;
}

function firstOf(dues: readonly { readonly cause: Due["cause"]; readonly at: Date | undefined }[]): Due | undefined {
  const known = dues.flatMap(({ cause, at }) => (at === undefined ? [] : [{ cause, at }]));
  return known.toSorted((one, other) => one.at.getTime() - other.at.getTime())[0];
}

/**
 * End of the time in which its schedule, a person or a request has it awake; `undefined` without one.
 *
 * After a request, idleness alone decides while requests are known, so that no work ends after an hour.
 */
function endOfHours(moment: Moment, kept: Date | undefined, idleAt: Date | undefined): Date | undefined {
  const { hours, now } = moment;
  if (hours === undefined) return undefined;
  if (hours.isAwake) return hours.changesAt;
  return isWokenByRequest(moment) && idleAt !== undefined ? undefined : (kept ?? now);
}

/** True outside its hours, where a request woke it and no person did since. */
function isWokenByRequest({ hours, person, former }: Moment): boolean {
  return hours?.isAwake === false && former?.cause === "request" && person.keptAwakeUntil === undefined;
}

/** Time until which the request that woke it keeps it awake; activity moves it. */
function keptByRequest(moment: Moment, lastActivityAt: Date | undefined): Date | undefined {
  const { former, wish, now } = moment;
  if (!isWokenByRequest(moment)) return undefined;
  const keptMs = Math.max(REQUEST_KEEPS_MS, (wish.afterIdleMinutes ?? 0) * MINUTE_MS);
  const woken = former?.state === "waking" ? new Date(former.since) : undefined;
  const used = latest(woken, lastActivityAt);
  const until = latest(dateOf(former?.keptAwakeUntil), used && new Date(used.getTime() + keptMs));
  return until !== undefined && until > now ? until : undefined;
}

interface Idleness {
  readonly lastActivityAt?: Date | undefined;
  /** Time at which it has been idle for long enough, if no activity follows; `undefined` while that is not known. */
  readonly idleAt?: Date | undefined;
}

function idleness(moment: Moment): Idleness {
  const { environment, former, wish, activity, now, isServing, person } = moment;
  if (wish.afterIdleMinutes === undefined) return {};
  const idleMs = wish.afterIdleMinutes * MINUTE_MS;
  const reported = dateOf(former?.lastActivityAt);
  const isChanging =
    !isServing || person.isWaking || environment.status?.observedGeneration !== environment.metadata.generation;
  const changed = isChanging ? now : dateOf(environment.status?.specChangedAt);
  const lastActivityAt = latest(reported, lastActivityOf(environment, now), activity?.lastRequestAt, changed);
  const begin = latest(createdAt(environment), dateOf(former?.since), activity?.observedSince);
  const idleAfter = (at: Date | undefined) => new Date((latest(begin, at) ?? now).getTime() + idleMs);
  const isReported =
    reported !== undefined &&
    (lastActivityAt?.getTime() ?? 0) - reported.getTime() < REPORT_MS &&
    idleAfter(reported) > now;
  const current = isReported ? reported : lastActivityAt;
  return { lastActivityAt: current, idleAt: activity && idleAfter(current) };
}

/** @param awakeSince also of an environment that never slept: its first reconcile, by the same clock */
function earliestSleep({ environment, now, awakeAtLeastMs }: Moment, awakeSince: string): Date | undefined {
  const read = lastActivityOf(environment, now);
  return latest(
    new Date(Date.parse(awakeSince) + awakeAtLeastMs),
    read && new Date(read.getTime() + READ_MS),
    // Of a clock that is ahead: the request that woke it must not wake it again.
    requestedAtOf(environment, now),
  );
}

const createdAt = ({ metadata }: EphemeralEnvironment) => new Date(metadata.creationTimestamp);
const dateOf = (timestamp: string | undefined) => (timestamp === undefined ? undefined : new Date(timestamp));

function latest(...dates: readonly (Date | undefined)[]): Date | undefined {
  const known = dates.filter((date) => date !== undefined);
  return known.length === 0 ? undefined : new Date(Math.max(...known.map((date) => date.getTime())));
}

interface WishOfPerson {
  readonly token: string | undefined;
  /** True when a person wakes or resumes it now. */
  readonly isWaking: boolean;
  readonly isResuming: boolean;
  readonly keptAwakeUntil: Date | undefined;
}

/** A person who wakes or resumes it outside its hours has it until the end of the next ones. */
function wishOfPerson(environment: EphemeralEnvironment, schedule: SleepSchedule | undefined, now: Date): WishOfPerson {
  const former = environment.status?.sleep;
  const token = wakeToken(environment);
  // Without a state of sleep it was awake: the request is an old one.
  const isWoken = former !== undefined && token !== undefined && token !== former.lastHandledWakeAt;
  const isResuming = findCondition(environment.status?.conditions, "Suspended") !== undefined;
  const isWaking = isWoken || isResuming;
  const wish = { token, isWaking, isResuming };
  if (isWaking) return { ...wish, keptAwakeUntil: schedule && endOfNextHours(schedule, now) };
  const until = former?.cause === "request" ? undefined : dateOf(former?.keptAwakeUntil);
  return { ...wish, keptAwakeUntil: until !== undefined && until > now ? until : undefined };
}

/** `undefined` within the hours, whose end counts anyway. */
function endOfNextHours(schedule: SleepSchedule, now: Date): Date | undefined {
  const { isAwake, changesAt } = scheduleAt(schedule, now);
  return isAwake || changesAt === undefined ? undefined : scheduleAt(schedule, changesAt).changesAt;
}

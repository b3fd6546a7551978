/** Times in which an environment was asleep: what they saved, and how long waking took. */

import { findCondition } from "../conditions.ts";
import type { EnvironmentStatus, EphemeralEnvironment } from "../environment/ephemeral-environment.ts";
import {
  MOST_SLEEPS,
  type PastSleep,
  type PastSleeps,
  WAKE_CAUSES,
  type WakeCause,
} from "../environment/past-sleep.schema.ts";
import { isServing } from "../environment/progress.ts";
import { isAsleep } from "../environment/sleep.ts";
import { requestedAtOf } from "../group.ts";
import { oncePer } from "../once-per.ts";
import { present } from "../present.ts";
import type { SleepStatus } from "../sleep.schema.ts";
import { consumedBetween, type Requested, secondsBetween, type UsageSpan } from "./usage.ts";

export type { PastSleep, PastSleeps, WakeCause } from "../environment/past-sleep.schema.ts";

/** Time asleep by cause, and what it saved: resources by seconds, as in `Consumption`. */
export interface Slept {
  readonly scheduleSleepSeconds: number;
  readonly idleSleepSeconds: number;
  readonly personSleepSeconds: number;
  /** Time asleep for which the saving is known. */
  readonly savedSeconds: number;
  readonly savedCpu: number;
  readonly savedMemory: number;
  readonly savedStorage: number;
}

export const NOT_SLEPT: Slept = {
  scheduleSleepSeconds: 0,
  idleSleepSeconds: 0,
  personSleepSeconds: 0,
  savedSeconds: 0,
  savedCpu: 0,
  savedMemory: 0,
  savedStorage: 0,
};

const SECONDS_OF = {
  schedule: "scheduleSleepSeconds",
  idle: "idleSleepSeconds",
  person: "personSleepSeconds",
} as const satisfies Record<PastSleep["cause"], keyof Slept>;

interface Known {
  readonly usage: readonly UsageSpan[] | undefined;
  readonly sleeps: PastSleeps | undefined;
}

/** Adds the sleep between two moments, in milliseconds since 1970; a sleep without an end lasts until the second. */
export function addSleeps(
  sum: { -readonly [F in keyof Slept]: number },
  { usage, sleeps }: Known,
  fromMs: number,
  toMs: number,
): void {
  if (sleeps === undefined) return;
  for (const { cause, awake, beginMs, endMs } of spansOf(sleeps)) {
    const [from, to] = [Math.max(fromMs, beginMs), Math.min(toMs, endMs)];
    const seconds = secondsBetween(from, to);
    if (seconds === 0) continue;
    sum[SECONDS_OF[cause]] += seconds;
    if (awake === undefined || usage === undefined) continue;
    const { cpu, memory, storage } = consumedBetween(usage, from, to);
    sum.savedSeconds += seconds;
    sum.savedCpu += seconds * awake.cpuMillicores - cpu;
    sum.savedMemory += seconds * awake.memoryMebibytes - memory;
    sum.savedStorage += seconds * awake.storageMebibytes - storage;
  }
}

const spansOf = oncePer((sleeps: PastSleeps) =>
  sleeps.map(({ since, until, cause, awake }) => ({
    cause,
    awake,
    beginMs: Date.parse(since),
    endMs: until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until),
  })),
);

/** A wake of an environment. Moments are in milliseconds since 1970. */
export interface Wake {
  /** The request that woke it, else the begin of waking. */
  readonly beginMs: number;
  /** `undefined` until it answers. */
  readonly awakeMs: number | undefined;
  /** Begin of the next sleep; `undefined` without one. */
  readonly nextSleepMs: number | undefined;
}

/** Wakes of an environment, the oldest first. */
export const wakesOf = oncePer((sleeps: PastSleeps): readonly Wake[] =>
  sleeps.flatMap((sleep, index) => {
    const begin = wakeBegin(sleep);
    return begin === undefined
      ? []
      : [{ beginMs: Date.parse(begin), awakeMs: msOf(sleep.awakeAt), nextSleepMs: msOf(sleeps[index + 1]?.since) }];
  }),
);

/** Begin of the wake that ended a sleep; `undefined` without a wake. */
export function wakeBegin({ requestedAt, until, wokenBy }: PastSleep): string | undefined {
  return wokenBy === undefined ? undefined : (requestedAt ?? until);
}

/** Sleeps after a reconcile; the same object when nothing changed. */
export function sleepsAfter(
  environment: EphemeralEnvironment,
  status: EnvironmentStatus,
  now: Date,
): PastSleeps | undefined {
  const cause = restCause(environment);
  return cause === undefined ? awakening(environment, status, now) : resting(environment, cause, now);
}

function resting(environment: EphemeralEnvironment, cause: PastSleep["cause"], now: Date): PastSleeps {
  const known = environment.status?.sleeps ?? [];
  const last = known.at(-1);
  if (last !== undefined && last.until === undefined && last.cause === cause) return known;
  const next: PastSleep = { since: sleepBegin(environment, now), cause, ...awakeRequests(environment, now) };
  const ended = known.map((one) => (one.until === undefined ? { ...one, until: next.since } : one));
  return [...ended, next].slice(-MOST_SLEEPS);
}

function awakening(environment: EphemeralEnvironment, status: EnvironmentStatus, now: Date): PastSleeps | undefined {
  const known = status.sleeps;
  const last = known?.at(-1);
  if (known === undefined || last === undefined || last.awakeAt !== undefined) return known;
  const until = last.until ?? stateBegin(status, "waking") ?? now.toISOString();
  const woken = last.until === undefined ? { ...last, until, ...wakeOf(environment, last, until) } : last;
  const isAwake = status.sleep?.state !== "waking" && isServing({ spec: environment.spec, status });
  if (woken === last && !isAwake) return known;
  const awakeAt = stateBegin(status, "awake", until) ?? now.toISOString();
  return [...known.slice(0, -1), isAwake ? { ...woken, awakeAt } : woken];
}

/** Begin of the state of sleep, if it is this one and did not begin before `earliest`. */
function stateBegin({ sleep }: EnvironmentStatus, state: SleepStatus["state"], earliest = ""): string | undefined {
  return sleep?.state === state && sleep.since >= earliest ? sleep.since : undefined;
}

/** Cause of the rest, also of an environment as it runs; `undefined` while it is awake. */
function restCause(environment: EphemeralEnvironment): PastSleep["cause"] | undefined {
  if (isAsleep(environment)) return environment.status?.sleep?.cause === "idle" ? "idle" : "schedule";
  return environment.spec.suspended ? "person" : undefined;
}

/** A sleep that another release began is known by its state. */
function sleepBegin(environment: EphemeralEnvironment, now: Date): string {
  const since = isAsleep(environment) ? environment.status?.sleep?.since : undefined;
  return since ?? now.toISOString();
}

/** Requests when it was last awake: those of its last sleep, if it has not been awake since. */
function awakeRequests(environment: EphemeralEnvironment, now: Date): Pick<PastSleep, "awake"> {
  const { sleeps, usage, conditions } = environment.status ?? {};
  const last = sleeps?.at(-1);
  if (last !== undefined && last.awakeAt === undefined) return present({ awake: last.awake });
  // Suspended under another release: its requests before cannot be seen from the rest.
  const wasSuspended = !isAsleep(environment) && findCondition(conditions, "Suspended") !== undefined;
  const begin = sleepBegin(environment, now);
  const change = wasSuspended ? undefined : usage?.findLast(({ since }) => Date.parse(since) < Date.parse(begin));
  return present({ awake: change && requestedIn(change) });
}

const requestedIn = ({ cpuMillicores, memoryMebibytes, storageMebibytes }: Requested): Requested => ({
  cpuMillicores,
  memoryMebibytes,
  storageMebibytes,
});

/** Cause of a wake: only a person takes a suspension back. */
function wakeOf(
  environment: EphemeralEnvironment,
  { cause, since }: PastSleep,
  until: string,
): Pick<PastSleep, "wokenBy" | "requestedAt"> {
  const { sleep } = environment.status ?? {};
  const stated: string | undefined = sleep?.state === "waking" && cause !== "person" ? sleep.cause : "person";
  const wokenBy: WakeCause = WAKE_CAUSES.find((one) => one === stated) ?? "person";
  const requested = requestedAtOf(environment, new Date(until))?.toISOString() ?? "";
  // Also a clock that is wrong, or a hand, may have written it.
  const isCredible = requested >= since && requested <= until;
  const requestedAt = wokenBy === "request" && isCredible ? requested : undefined;
  return { wokenBy, ...present({ requestedAt }) };
}

const msOf = (instant: string | undefined) => (instant === undefined ? undefined : Date.parse(instant));

import { isWithin, type Period } from "../../crds/usage/period-summary.ts";
import type { SlotCounts } from "../../crds/usage/rollup.ts";
import { COUNTERS, countWithin } from "../../crds/usage/rollup.ts";
import { type Wake, wakesOf } from "../../crds/usage/sleeps.ts";
import type { UsageRecord } from "../../crds/usage/usage-record.ts";

export interface Score {
  readonly good: number;
  readonly total: number;
}

/** Environments and the period of an objective. */
export interface UsageIn {
  readonly records: readonly UsageRecord[];
  readonly period: Period;
  readonly nowMs: number;
}

export interface Objective<Evidence> {
  readonly id: string;
  readonly description: string;
  /** Share of events that has to be good. */
  readonly target: number;
  score(evidence: Evidence): Score;
}

const CREATION_MS = 180_000;
export const DELETION_MS = 600_000;
const LATENESS_MS = 60_000;
const WAKING_MS = 60_000;
const WEBHOOK_MS = 100;

/** Good, bad, or no event yet. */
type Verdict = boolean | undefined;

/** Objectives measured by resources and records. */
export const OBJECTIVES_OF_USAGE: readonly Objective<UsageIn>[] = [
  {
    id: "creation",
    description:
      "An environment is ready within 180 seconds. One that is deleted before is not counted, unless it failed.",
    target: 0.99,
    score: ofUsage(({ createdMs }) => createdMs, isCreatedInTime),
  },
  {
    id: "deletion",
    description: "An environment is gone within 10 minutes of the request to delete it, without a step being skipped.",
    target: 0.999,
    score: ofUsage(({ deletedMs }) => deletedMs, isGoneInTime),
  },
  {
    id: "expiry",
    description: "An expired environment's deletion is requested within a minute.",
    target: 0.999,
    score: ofUsage(({ dueMs }) => dueMs, isExpiredInTime),
  },
  {
    id: "waking",
    description:
      "An environment that wakes answers within 60 seconds: of the request that wakes it, else of the begin of its waking. One that is deleted or sleeps again before is not counted.",
    target: 0.95,
    score: wakesInTime,
  },
];

/** Objectives by every replica's counts of requests in the period. */
export const OBJECTIVES_OF_COUNTS: readonly Objective<SlotCounts>[] = [
  {
    id: "webhooks",
    description: "A webhook of a host is answered without an error within 100 milliseconds.",
    target: 0.99,
    score: (counts) => ({
      good: countWithin(counts, COUNTERS.webhookMs, WEBHOOK_MS),
      total: counts[COUNTERS.webhooks] ?? 0,
    }),
  },
  {
    id: "api",
    description: "A request to the REST interface is not answered with a status of 500 or more.",
    target: 0.999,
    score: (counts) => {
      const total = counts[COUNTERS.requests] ?? 0;
      return { good: total - (counts[COUNTERS.requestErrors] ?? 0), total };
    },
  },
];

function ofUsage(
  atMs: (record: UsageRecord) => number | undefined,
  verdictOf: (record: UsageRecord, nowMs: number) => Verdict,
): (evidence: UsageIn) => Score {
  return ({ records, period, nowMs }) => {
    const verdict = (record: UsageRecord) =>
      isWithin(period, atMs(record) ?? Number.NaN) ? verdictOf(record, nowMs) : undefined;
    let [good, total] = [0, 0];
    // One pass without lists: there may be tens of thousands.
    for (const record of records) {
      const found = verdict(record);
      total += Number(found !== undefined);
      good += Number(found === true);
    }
    return { good, total };
  };
}

/** An environment may wake many times in the period. */
function wakesInTime({ records, period, nowMs }: UsageIn): Score {
  let [good, total] = [0, 0];
  for (const { sleeps, deletedMs } of records) {
    if (sleeps === undefined) continue;
    for (const wake of wakesOf(sleeps)) {
      const verdict = isWithin(period, wake.beginMs) ? isAwakeInTime(wake, deletedMs ?? nowMs) : undefined;
      total += Number(verdict !== undefined);
      good += Number(verdict === true);
    }
  }
  return { good, total };
}

function isAwakeInTime({ beginMs, awakeMs, nextSleepMs }: Wake, endMs: number): Verdict {
  if (awakeMs !== undefined) return awakeMs - beginMs <= WAKING_MS;
  return (nextSleepMs ?? endMs) - beginMs > WAKING_MS ? false : undefined;
}

function isCreatedInTime({ createdMs, readyMs, isFailed, deletedMs }: UsageRecord, nowMs: number): Verdict {
  if (readyMs !== undefined) return readyMs - createdMs <= CREATION_MS;
  const isOver = (deletedMs ?? nowMs) - createdMs > CREATION_MS;
  return isOver || isFailed ? false : undefined;
}

function isGoneInTime({ deletedMs = 0, goneMs, isForced }: UsageRecord, nowMs: number): Verdict {
  if (isForced) return false;
  if (goneMs !== undefined) return goneMs - deletedMs <= DELETION_MS;
  return nowMs - deletedMs > DELETION_MS ? false : undefined;
}

/** An environment deleted before its expiry never expired. */
function isExpiredInTime({ dueMs = 0, deletedMs }: UsageRecord, nowMs: number): Verdict {
  if (deletedMs !== undefined) return deletedMs < dueMs ? undefined : deletedMs - dueMs <= LATENESS_MS;
  return nowMs - dueMs > LATENESS_MS ? false : undefined;
}

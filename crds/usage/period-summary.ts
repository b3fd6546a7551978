/** Usage of environments in a period: in total, and by common properties. */

import { DAY_MS } from "../durations.ts";
import { oncePer } from "../once-per.ts";
import { addCharge, type Charged, chargedBetween, NOTHING_CHARGED } from "./allocations.ts";
import { addSleeps, NOT_SLEPT, type Slept } from "./sleeps.ts";
import { secondsBetween } from "./usage.ts";
import type { UsageRecord } from "./usage-record.ts";

/** Totals of environments in a period. */
export interface Totals extends Charged, Slept {
  readonly created: number;
  /** Created in the period, and ready at some time. */
  readonly succeeded: number;
  /** Created in it, never ready, and failed. */
  readonly failed: number;
  /** Deleted in it, by request or by expiry. */
  readonly deleted: number;
  /** Deleted ones whose cause was expiry. */
  readonly expired: number;
  /** Time from creation to ready, for environments created in the period. */
  readonly provisionSeconds: number;
  /** Time from creation to the deletion request, for environments deleted in the period. */
  readonly lifetimeSeconds: number;
  /** Total time of existence in it. */
  readonly thereSeconds: number;
}

/** Grouping properties of environments. */
export const DIMENSIONS = ["repository", "creator", "config_set", "trigger"] as const;
export type Dimension = (typeof DIMENSIONS)[number];

export const byDimension = <T>(of: (dimension: Dimension) => T) =>
  Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, of(dimension)])) as Record<Dimension, T>;

/** Totals by the name of the common property; `OTHERS` sums those beyond the limit. */
export type Rows = ReadonlyMap<string, Totals>;

/** Row with the sum of unnamed rows. */
export const OTHERS = "";
/** Row of environments without the property, such as no config set or no owner. */
export const NONE = "-";

export interface PeriodSummary {
  readonly total: Totals;
  readonly by: Readonly<Record<Dimension, Rows>>;
  readonly peak: number;
}

export const NO_TOTALS: Totals = {
  created: 0,
  succeeded: 0,
  failed: 0,
  deleted: 0,
  expired: 0,
  provisionSeconds: 0,
  lifetimeSeconds: 0,
  thereSeconds: 0,
  ...NOTHING_CHARGED,
  ...NOT_SLEPT,
};

/** Usage of some environments in a period, to be added to that of others. */
export interface PartSummary extends Omit<PeriodSummary, "peak"> {
  /** Moments in the period at which they began and ended. */
  readonly bounds: () => Bounds;
}

interface Bounds {
  readonly begins: Float64Array;
  readonly ends: Float64Array;
}

/** Usage of these environments in the period. */
export function summaryOf(records: readonly UsageRecord[], period: Period, nowMs: number): PeriodSummary {
  return sumOfParts([partSummaryOf(records, period, nowMs)]);
}

/** Usage in the period of environments of which each is in one part. */
export function sumOfParts(parts: readonly PartSummary[]): PeriodSummary {
  const rows = once(() => byDimension((dimension) => sumOfRows(parts.map(({ by }) => by[dimension]))));
  const peak = once(() => peakOf(parts.map(({ bounds }) => bounds())));
  return {
    total: sumOfTotals(parts.map(({ total }) => total)),
    get by() {
      return rows();
    },
    get peak() {
      return peak();
    },
  };
}

/** Usage of these environments in the period, as a part of that of all. */
export function partSummaryOf(records: readonly UsageRecord[], period: Period, nowMs: number): PartSummary {
  const there = records.filter((record) => isThereIn(record, period, nowMs));
  // Thousands have equal properties: those are added up first.
  const kinds = new Map<string, { readonly one: UsageRecord; readonly sum: Adding }>();
  for (const record of there) {
    const key = groupsKey(record);
    const kind = kinds.get(key) ?? { one: record, sum: { ...NO_TOTALS } };
    kinds.set(key, kind);
    addUsage(kind.sum, record, { period, nowMs });
  }
  const { total, by } = emptySum();
  for (const { one, sum } of kinds.values()) {
    add(total, sum);
    for (const dimension of DIMENSIONS) add(rowOf(by[dimension], groupOf(one, dimension)), sum);
  }
  return { total, by, bounds: once(() => boundsOf(there, period, nowMs)) };
}

/** Sum of periods that do not overlap. */
export function sumOfSummaries(all: readonly PeriodSummary[]): PeriodSummary {
  const peak = once(() => all.reduce((most, one) => Math.max(most, one.peak), 0));
  return {
    total: sumOfTotals(all.map(({ total }) => total)),
    by: byDimension((dimension) => sumOfRows(all.map(({ by }) => by[dimension]))),
    get peak() {
      return peak();
    },
  };
}

function sumOfRows(all: readonly Rows[]): Rows {
  const sum: AddingRows = new Map();
  for (const rows of all) for (const [name, totals] of rows) add(rowOf(sum, name), totals);
  return sum;
}

/** Lazy, because it is slow and rarely used. */
function once<T extends object | number>(compute: () => T): () => T {
  let known: T | undefined;
  return () => {
    known ??= compute();
    return known;
  };
}

export function sumOfTotals(all: Iterable<Totals>): Totals {
  const sum = { ...NO_TOTALS };
  for (const one of all) add(sum, one);
  return sum;
}

/** Limits on named rows. */
interface RowBounds {
  readonly most: number;
  /** Limit on all names together, as stored. */
  readonly mostBytes: number;
}

/** The same rows; beyond the bounds, those with the least consumption become one. */
export function cappedRows(rows: Rows, { most, mostBytes }: RowBounds): Rows {
  const greatestFirst = [...rows]
    .filter(([name]) => name !== OTHERS)
    .sort(([, one], [, other]) => weightOf(other) - weightOf(one) || other.created - one.created);
  let bytes = 0;
  const kept = greatestFirst.slice(0, most).filter(([name]) => {
    bytes += Buffer.byteLength(JSON.stringify(name));
    return bytes <= mostBytes;
  });
  if (kept.length === greatestFirst.length) return rows;
  const named = new Map(kept);
  const others = sumOfTotals([...rows].filter(([name]) => !named.has(name)).map(([, totals]) => totals));
  return named.set(OTHERS, others);
}

/** An environment's value of a dimension. */
export function groupOf({ repository, owner, configSet, trigger }: UsageRecord, dimension: Dimension): string {
  const name = { repository, creator: owner?.subject, config_set: configSet, trigger }[dimension];
  return name ?? NONE;
}

/** True when it existed at any moment of the period. */
export function isThereIn({ createdMs, goneMs }: UsageRecord, { fromMs, toMs }: Period, nowMs: number): boolean {
  return createdMs < toMs && (goneMs ?? nowMs) >= fromMs;
}

/** Known charge of the environment in the period. */
export function chargeOf(record: UsageRecord, { fromMs, toMs }: Period, nowMs: number): Charged {
  return chargedBetween(record, fromMs, Math.min(toMs, record.goneMs ?? nowMs));
}

type Adding = { -readonly [F in keyof Totals]: number };
type AddingRows = Map<string, Adding>;

function emptySum(): { readonly total: Adding; readonly by: Readonly<Record<Dimension, AddingRows>> } {
  return { total: { ...NO_TOTALS }, by: byDimension(() => new Map()) };
}

function add(sum: Adding, one: Totals): void {
  sum.created += one.created;
  sum.succeeded += one.succeeded;
  sum.failed += one.failed;
  sum.deleted += one.deleted;
  sum.expired += one.expired;
  sum.provisionSeconds += one.provisionSeconds;
  sum.lifetimeSeconds += one.lifetimeSeconds;
  sum.thereSeconds += one.thereSeconds;
  sum.knownSeconds += one.knownSeconds;
  sum.cpu += one.cpu;
  sum.memory += one.memory;
  sum.storage += one.storage;
  sum.allocatedSeconds += one.allocatedSeconds;
  sum.allocatedCpu += one.allocatedCpu;
  sum.allocatedMemory += one.allocatedMemory;
  sum.allocatedStorage += one.allocatedStorage;
  sum.allocatedOther += one.allocatedOther;
  sum.scheduleSleepSeconds += one.scheduleSleepSeconds;
  sum.idleSleepSeconds += one.idleSleepSeconds;
  sum.personSleepSeconds += one.personSleepSeconds;
  sum.savedSeconds += one.savedSeconds;
  sum.savedCpu += one.savedCpu;
  sum.savedMemory += one.savedMemory;
  sum.savedStorage += one.savedStorage;
}

function rowOf(rows: AddingRows, name: string): Adding {
  const known = rows.get(name);
  if (known !== undefined) return known;
  const row = { ...NO_TOTALS };
  rows.set(name, row);
  return row;
}

/** A core costs about as much as four GiB of memory, some three cents an hour; only an order is needed. */
const weightOf = ({ cpu, memory, allocatedCpu, allocatedMemory, allocatedStorage, allocatedOther }: Totals) =>
  cpu / 1000 + memory / 4096 + (allocatedCpu + allocatedMemory + allocatedStorage + allocatedOther) * CORE_SECONDS;
/** Core-seconds per thousandth of a cent. */
const CORE_SECONDS = 3_600 / 3_000;

/** Totals of one environment in the period. */
export function totalsOf(record: UsageRecord, period: Period, nowMs: number): Totals {
  const totals = { ...NO_TOTALS };
  addUsage(totals, record, { period, nowMs });
  return totals;
}

/** Allocates nothing: there may be tens of thousands. */
function addUsage(
  sum: Adding,
  record: UsageRecord,
  { period, nowMs }: { readonly period: Period; readonly nowMs: number },
): void {
  const { createdMs, readyMs, deletedMs, goneMs = nowMs } = record;
  const endMs = Math.min(period.toMs, goneMs);
  if (isWithin(period, createdMs)) {
    sum.created += 1;
    sum.succeeded += Number(readyMs !== undefined);
    sum.failed += Number(readyMs === undefined && record.isFailed);
    sum.provisionSeconds += readyMs === undefined ? 0 : secondsBetween(createdMs, readyMs);
  }
  if (deletedMs !== undefined && isWithin(period, deletedMs)) {
    sum.deleted += 1;
    sum.expired += Number(record.isExpired);
    sum.lifetimeSeconds += secondsBetween(createdMs, deletedMs);
  }
  sum.thereSeconds += secondsBetween(Math.max(createdMs, period.fromMs), endMs);
  addCharge(sum, record, period.fromMs, endMs);
  // An environment that is being deleted would not run anyway.
  if (record.sleeps !== undefined) addSleeps(sum, record, period.fromMs, Math.min(endMs, deletedMs ?? endMs));
}

/** Equal for environments with equal properties. */
const groupsKey = oncePer((record: UsageRecord) =>
  JSON.stringify(DIMENSIONS.map((dimension) => groupOf(record, dimension))),
);

function boundsOf(records: readonly UsageRecord[], { fromMs, toMs }: Period, nowMs: number): Bounds {
  return {
    begins: Float64Array.from(records, ({ createdMs }) => Math.max(createdMs, fromMs)),
    ends: Float64Array.from(records, ({ goneMs }) => Math.min(goneMs ?? nowMs + 1, toMs)),
  };
}

/** An environment that ends when another begins does not overlap it. */
function peakOf(parts: readonly Bounds[]): number {
  const begins = sortedNumbers(parts.map((one) => one.begins));
  const ends = sortedNumbers(parts.map((one) => one.ends));
  let [most, ended] = [0, 0];
  for (const [index, begin] of begins.entries()) {
    while (ended < ends.length && (ends[ended] as number) <= begin) ended += 1;
    most = Math.max(most, index + 1 - ended);
  }
  return most;
}

/** All of these numbers, the least first. */
export function sortedNumbers(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all.sort();
}

/** Time from `fromMs` (inclusive) to `toMs` (exclusive), in milliseconds since 1970. */
export interface Period {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Start of the moment's day, in UTC. */
export const midnightOf = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS;

/** True when the moment is in the period. */
export function isWithin({ fromMs, toMs }: Period, atMs: number): boolean {
  return atMs >= fromMs && atMs < toMs;
}

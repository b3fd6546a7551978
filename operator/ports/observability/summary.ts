/** Usage of environments in a period: in total, and by common properties. */
import { DAY_MS } from "../../../crds/durations.ts";
import {
  addCharge,
  type Charged,
  chargedBetween,
  NOTHING_CHARGED,
} from "../../../crds/environment/costs/allocations.ts";
import { secondsBetween } from "../../../crds/environment/costs/usage.ts";
import type { Life } from "../../../crds/environment/life.ts";
import { oncePer } from "../../../crds/once-per.ts";

/** Totals of environments in a period. */
export interface Tally extends Charged {
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

/** Totals by the name of the common property; `OTHERS` sums those beyond the limit. */
export type Rows = ReadonlyMap<string, Tally>;

/** Row with the sum of unnamed rows. */
export const OTHERS = "";
/** Row of environments without the property, such as no config set or no owner. */
export const NONE = "-";

export interface Summary {
  readonly total: Tally;
  readonly by: Readonly<Record<Dimension, Rows>>;
  readonly peak: number;
}

export const NO_TALLY: Tally = {
  created: 0,
  succeeded: 0,
  failed: 0,
  deleted: 0,
  expired: 0,
  provisionSeconds: 0,
  lifetimeSeconds: 0,
  thereSeconds: 0,
  ...NOTHING_CHARGED,
};

/** Usage of these environments in the period. */
export function summaryOf(lives: readonly Life[], period: Period, nowMs: number): Summary {
  const there = lives.filter((life) => isThereIn(life, period, nowMs));
  // Thousands have equal properties: those are added up first.
  const kinds = new Map<string, { readonly one: Life; readonly sum: Adding }>();
  for (const life of there) {
    const key = kindOf(life);
    const kind = kinds.get(key) ?? { one: life, sum: { ...NO_TALLY } };
    kinds.set(key, kind);
    addLife(kind.sum, life, { period, nowMs });
  }
  const { total, by } = emptySum();
  for (const { one, sum } of kinds.values()) {
    add(total, sum);
    for (const dimension of DIMENSIONS) add(rowOf(by[dimension], groupOf(one, dimension)), sum);
  }
  return withPeak({ total, by }, () => peakOf(there, period, nowMs));
}

/** Sum of periods that do not overlap. */
export function sumOfSummaries(all: readonly Summary[]): Summary {
  const { total, by } = emptySum();
  for (const one of all) {
    add(total, one.total);
    for (const dimension of DIMENSIONS) {
      for (const [name, tally] of one.by[dimension]) add(rowOf(by[dimension], name), tally);
    }
  }
  return withPeak({ total, by }, () => all.reduce((most, { peak }) => Math.max(most, peak), 0));
}

/** Lazy, because the peak is slow and rarely used. */
function withPeak(sum: Omit<Summary, "peak">, peakOfAll: () => number): Summary {
  let known: number | undefined;
  return {
    ...sum,
    get peak() {
      known ??= peakOfAll();
      return known;
    },
  };
}

export function sumOfTallies(all: Iterable<Tally>): Tally {
  const sum = { ...NO_TALLY };
  for (const one of all) add(sum, one);
  return sum;
}

/** Limits on named rows. */
export interface RowBounds {
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
  const others = sumOfTallies([...rows].filter(([name]) => !named.has(name)).map(([, tally]) => tally));
  return named.set(OTHERS, others);
}

/** An environment's value of a dimension. */
export function groupOf({ repository, owner, configSet, trigger }: Life, dimension: Dimension): string {
  const name = { repository, creator: owner?.subject, config_set: configSet, trigger }[dimension];
  return name ?? NONE;
}

/** True when it existed at any moment of the period. */
export function isThereIn({ createdMs, goneMs }: Life, { fromMs, toMs }: Period, nowMs: number): boolean {
  return createdMs < toMs && (goneMs ?? nowMs) >= fromMs;
}

/** Known charge of the environment in the period. */
export function chargeOf(life: Life, { fromMs, toMs }: Period, nowMs: number): Charged {
  return chargedBetween(life, fromMs, Math.min(toMs, life.goneMs ?? nowMs));
}

type Adding = { -readonly [F in keyof Tally]: number };
type AddingRows = Map<string, Adding>;

function emptySum(): { readonly total: Adding; readonly by: Readonly<Record<Dimension, AddingRows>> } {
  const by = { repository: new Map(), creator: new Map(), config_set: new Map(), trigger: new Map() };
  return { total: { ...NO_TALLY }, by };
}

function add(sum: Adding, one: Tally): void {
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
}

function rowOf(rows: AddingRows, name: string): Adding {
  const known = rows.get(name);
  if (known !== undefined) return known;
  const row = { ...NO_TALLY };
  rows.set(name, row);
  return row;
}

/** A core costs about as much as four GiB of memory, some three cents an hour; only an order is needed. */
const weightOf = ({ cpu, memory, allocatedCpu, allocatedMemory, allocatedStorage, allocatedOther }: Tally) =>
  cpu / 1000 + memory / 4096 + (allocatedCpu + allocatedMemory + allocatedStorage + allocatedOther) * CORE_SECONDS;
/** Core-seconds per thousandth of a cent. */
const CORE_SECONDS = 3_600 / 3_000;

/** Totals of one environment in the period. */
export function tallyOf(life: Life, period: Period, nowMs: number): Tally {
  const tally = { ...NO_TALLY };
  addLife(tally, life, { period, nowMs });
  return tally;
}

/** Allocates nothing: there may be tens of thousands. */
function addLife(
  sum: Adding,
  life: Life,
  { period, nowMs }: { readonly period: Period; readonly nowMs: number },
): void {
  const { createdMs, readyMs, deletedMs, goneMs = nowMs } = life;
  const endMs = Math.min(period.toMs, goneMs);
  if (isWithin(period, createdMs)) {
    sum.created += 1;
    sum.succeeded += Number(readyMs !== undefined);
    sum.failed += Number(readyMs === undefined && life.isFailed);
    sum.provisionSeconds += readyMs === undefined ? 0 : secondsBetween(createdMs, readyMs);
  }
  if (deletedMs !== undefined && isWithin(period, deletedMs)) {
    sum.deleted += 1;
    sum.expired += Number(life.isExpired);
    sum.lifetimeSeconds += secondsBetween(createdMs, deletedMs);
  }
  sum.thereSeconds += secondsBetween(Math.max(createdMs, period.fromMs), endMs);
  addCharge(sum, life, period.fromMs, endMs);
}

/** Equal for environments with equal properties. */
const kindOf = oncePer((life: Life) => JSON.stringify(DIMENSIONS.map((dimension) => groupOf(life, dimension))));

/** An environment that ends when another begins does not overlap it. */
function peakOf(lives: readonly Life[], { fromMs, toMs }: Period, nowMs: number): number {
  const begins = Float64Array.from(lives, ({ createdMs }) => Math.max(createdMs, fromMs)).sort();
  const ends = Float64Array.from(lives, ({ goneMs }) => Math.min(goneMs ?? nowMs + 1, toMs)).sort();
  let [most, ended] = [0, 0];
  for (const [index, begin] of begins.entries()) {
    while (ended < ends.length && (ends[ended] as number) <= begin) ended += 1;
    most = Math.max(most, index + 1 - ended);
  }
  return most;
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

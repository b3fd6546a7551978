/** Costs of an environment by a cost monitor, and their sums. */
import { DAY_MS } from "../../durations.ts";
import { oncePer } from "../../once-per.ts";
import { type Allocation, type Allocations, MOST_ALLOCATIONS } from "./allocation.schema.ts";
import { type Consumption, consumedBetween, NOTHING_CONSUMED, secondsBetween, type UsageSpan } from "./usage.ts";

export type { Allocation, Allocations } from "./allocation.schema.ts";

/** Allocated money, in thousandths of a cent, in whole numbers. */
export type AllocatedCost = Pick<Allocation, "cpu" | "memory" | "storage" | "other">;

/** Allocated money in a sum with requested resources. */
export interface Allocated {
  readonly allocatedSeconds: number;
  readonly allocatedCpu: number;
  readonly allocatedMemory: number;
  readonly allocatedStorage: number;
  readonly allocatedOther: number;
}

export const NOTHING_ALLOCATED: Allocated = {
  allocatedSeconds: 0,
  allocatedCpu: 0,
  allocatedMemory: 0,
  allocatedStorage: 0,
  allocatedOther: 0,
};

/** Charge for a time: allocated money, and requested resources where nothing is allocated. */
export interface Charged extends Consumption, Allocated {
  /** Time for which either is known. */
  readonly knownSeconds: number;
}

export const NOTHING_CHARGED: Charged = { ...NOTHING_CONSUMED, ...NOTHING_ALLOCATED, knownSeconds: 0 };

interface Known {
  readonly usage: readonly UsageSpan[] | undefined;
  readonly allocations: Allocations | undefined;
}

/**
 * Adds an allocation, or returns the same object when part of its time is allocated, perhaps by another process: no
 * time is charged twice. Adjacent allocations of a day become one.
 */
export function allocationsWith(known: Allocations | undefined, added: Allocation): Allocations {
  if (known !== undefined && isAllocated(known, Date.parse(added.from), Date.parse(added.to))) return known;
  const sorted = [...(known ?? []), added].sort((one, other) => Date.parse(one.from) - Date.parse(other.from));
  const joined: Allocation[] = [];
  for (const next of sorted) {
    const last = joined.at(-1);
    if (last !== undefined && last.to === next.from && dayOf(last.from) === dayOf(next.from)) {
      joined[joined.length - 1] = together(last, next);
    } else joined.push(next);
  }
  return joined.slice(-MOST_ALLOCATIONS);
}

/** True when part of the time is allocated, or all of it is older than the stored allocations. */
export function isAllocated(known: Allocations | undefined, fromMs: number, toMs: number): boolean {
  const spans = known === undefined ? [] : spansOf(known);
  const isFull = spans.length === MOST_ALLOCATIONS && toMs <= (spans[0]?.beginMs ?? 0);
  return isFull || spans.some(({ beginMs, endMs }) => beginMs < toMs && fromMs < endMs);
}

/** Charge between two moments, in milliseconds since 1970, each rounded down to its second. */
export function chargedBetween(known: Known, fromMs: number, toMs: number): Charged {
  const sum = { ...NOTHING_CHARGED };
  addCharge(sum, known, fromMs, toMs);
  return sum;
}

/** Adds a charge without new objects: there may be tens of thousands of environments, most without allocations. */
export function addCharge(
  sum: { -readonly [F in keyof Charged]: number },
  { usage, allocations }: Known,
  fromMs: number,
  toMs: number,
): void {
  const knownMs = usage?.[0] && usage[0].begin * 1000;
  if (usage !== undefined && knownMs !== undefined) {
    const { cpu, memory, storage } = consumedBetween(usage, fromMs, toMs);
    sum.cpu += cpu;
    sum.memory += memory;
    sum.storage += storage;
    sum.knownSeconds += secondsBetween(Math.max(knownMs, fromMs), toMs);
  }
  if (allocations === undefined) return;
  for (const span of spansOf(allocations)) {
    const [beginMs, endMs] = [Math.max(fromMs, span.beginMs), Math.min(toMs, span.endMs)];
    const seconds = secondsBetween(beginMs, endMs);
    if (seconds === 0) continue;
    const part = (amount: number) => amountUntil(span, amount, endMs) - amountUntil(span, amount, beginMs);
    sum.allocatedSeconds += seconds;
    sum.allocatedCpu += part(span.cpu);
    sum.allocatedMemory += part(span.memory);
    sum.allocatedStorage += part(span.storage);
    sum.allocatedOther += part(span.other);
    const instead = usage === undefined ? NOTHING_CONSUMED : consumedBetween(usage, beginMs, endMs);
    sum.cpu -= instead.cpu;
    sum.memory -= instead.memory;
    sum.storage -= instead.storage;
    sum.knownSeconds += secondsBetween(beginMs, Math.min(endMs, Math.max(beginMs, knownMs ?? endMs)));
  }
}

interface Span extends AllocatedCost {
  readonly beginMs: number;
  readonly endMs: number;
}

const spansOf = oncePer((allocations: Allocations): readonly Span[] =>
  allocations.map(({ from, to, ...cost }) => ({ ...cost, beginMs: Date.parse(from), endMs: Date.parse(to) })),
);

/** Part of an evenly growing amount until a moment; whole numbers, so that parts add up. */
function amountUntil({ beginMs, endMs }: Span, amount: number, atMs: number): number {
  const [seconds, whole] = [secondsBetween(beginMs, atMs), secondsBetween(beginMs, endMs)];
  return seconds >= whole ? amount : Math.floor((amount * seconds) / whole);
}

const together = (one: Allocation, other: Allocation): Allocation => ({
  from: one.from,
  to: other.to,
  ...sumOfCosts(one, other),
});

export const sumOfCosts = (one: AllocatedCost, other: AllocatedCost): AllocatedCost => ({
  cpu: one.cpu + other.cpu,
  memory: one.memory + other.memory,
  storage: one.storage + other.storage,
  other: one.other + other.other,
});

const dayOf = (instant: string) => Math.floor(Date.parse(instant) / DAY_MS);

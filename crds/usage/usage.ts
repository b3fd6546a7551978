/** Requested resources of an environment over time, and their sums. */

import { USAGE_MAX_CHANGES, type Usage, type UsageChange } from "../environment/usage.schema.ts";
import { thousandthsOfQuantity } from "../quantity.ts";

export type { Usage } from "../environment/usage.schema.ts";

/** Resources that pods and volumes request at a moment. */
export type Requested = Omit<UsageChange, "since">;

/** Resources by time, in whole numbers: thousandths of a core, MiB of memory and of volumes, each by seconds. */
export interface Consumption {
  readonly cpu: number;
  readonly memory: number;
  readonly storage: number;
}

export const NOTHING_REQUESTED: Requested = { cpuMillicores: 0, memoryMebibytes: 0, storageMebibytes: 0 };
export const NOTHING_CONSUMED: Consumption = { cpu: 0, memory: 0, storage: 0 };

const CPU = "requests.cpu";
const MEMORY = "requests.memory";
const STORAGE = "requests.storage";
export const COUNTED_RESOURCES: readonly string[] = [CPU, MEMORY, STORAGE];

const MEBIBYTE = 1024 ** 2;

/** Resources that a ResourceQuota counts; `undefined` unless it counts all. */
export function requestedOf(used: Readonly<Record<string, string>> | undefined): Requested | undefined {
  const [cpu, memory, storage] = COUNTED_RESOURCES.map((resource) => used?.[resource]);
  if (cpu === undefined || memory === undefined || storage === undefined) return undefined;
  const mebibytes = (text: string) => Math.ceil(thousandthsOfQuantity(text) / 1000 / MEBIBYTE);
  return {
    cpuMillicores: thousandthsOfQuantity(cpu),
    memoryMebibytes: mebibytes(memory),
    storageMebibytes: mebibytes(storage),
  };
}

/**
 * Usage after a request; the same object when nothing changed.
 *
 * @param requested `undefined` while it is unknown: then the last one still counts
 */
export function usageAfter(known: Usage | undefined, requested: Requested | undefined, now: Date): Usage | undefined {
  const last = known?.at(-1);
  if (requested === undefined || (last !== undefined && isEqual(last, requested))) return known;
  return bounded([...(known ?? []), { since: now.toISOString(), ...requested }]);
}

/** A change, its second since 1970, and the consumption until then. */
export interface UsageSpan extends UsageChange {
  readonly begin: number;
  readonly cpuBefore: number;
  readonly memoryBefore: number;
  readonly storageBefore: number;
}

/** Usage with the consumption before each change, so that a moment's consumption needs only one span. */
export function spansOf(usage: Usage): readonly UsageSpan[] {
  const spans: UsageSpan[] = [];
  for (const change of usage) {
    const begin = secondOf(Date.parse(change.since));
    const last = spans.at(-1);
    const { cpu, memory, storage } = last === undefined ? NOTHING_CONSUMED : consumedUntil(last, begin);
    spans.push({ ...change, begin, cpuBefore: cpu, memoryBefore: memory, storageBefore: storage });
  }
  return spans;
}

/** Consumption between two moments, in milliseconds since 1970, each rounded down to its second. */
export function consumedBetween(spans: readonly UsageSpan[], fromMs: number, toMs: number): Consumption {
  const [from, to] = [secondOf(fromMs), secondOf(toMs)];
  const last = spanAt(spans, to);
  if (last === undefined || to <= from) return NOTHING_CONSUMED;
  const first = spanAt(spans, from);
  const whole = consumedUntil(last, to);
  if (first === undefined) return whole;
  const part = consumedUntil(first, from);
  return { cpu: whole.cpu - part.cpu, memory: whole.memory - part.memory, storage: whole.storage - part.storage };
}

/** Consumption until a second within that span. Never negative: the next leader's clock may be behind. */
function consumedUntil(span: UsageSpan, second: number): Consumption {
  const seconds = Math.max(0, second - span.begin);
  return {
    cpu: span.cpuBefore + seconds * span.cpuMillicores,
    memory: span.memoryBefore + seconds * span.memoryMebibytes,
    storage: span.storageBefore + seconds * span.storageMebibytes,
  };
}

/** Span of that second; `undefined` before the first. From the end, because the last is needed most. */
function spanAt(spans: readonly UsageSpan[], second: number): UsageSpan | undefined {
  return spans.findLast(({ begin }) => begin <= second);
}

/** Seconds between the whole seconds of both moments, so that parts add up; never negative. */
export const secondsBetween = (fromMs: number, toMs: number): number => Math.max(0, secondOf(toMs) - secondOf(fromMs));

const secondOf = (ms: number) => Math.floor(ms / 1000);

const isEqual = (one: Requested, other: Requested) =>
  one.cpuMillicores === other.cpuMillicores &&
  one.memoryMebibytes === other.memoryMebibytes &&
  one.storageMebibytes === other.storageMebibytes;

function bounded(usage: Usage): Usage {
  const [first, second, third] = usage;
  if (usage.length <= USAGE_MAX_CHANGES || !first || !second || !third) return usage;
  const [begin, end] = [first.since, third.since].map((since) => Date.parse(since)) as [number, number];
  const { cpu, memory, storage } = consumedBetween(spansOf([first, second]), begin, end);
  const seconds = Math.max(1, secondOf(end) - secondOf(begin));
  const average: UsageChange = {
    since: first.since,
    cpuMillicores: Math.round(cpu / seconds),
    memoryMebibytes: Math.round(memory / seconds),
    storageMebibytes: Math.round(storage / seconds),
  };
  return [average, ...usage.slice(2)];
}

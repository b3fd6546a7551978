/** Prices of resources, in whole cents, so that parts add up to the whole. */
import type { Allocated } from "./allocations.ts";
import type { Consumption, Requested } from "./usage.ts";

/** Prices of an hour, in the currency's own unit. */
export interface Prices {
  readonly cpuCoreHour: number;
  readonly memoryGibHour: number;
  readonly storageGibHour: number;
}

const SECONDS = 3600;
const [CORE, GIBIBYTE] = [1000, 1024];
/** Money is allocated in thousandths of a cent. */
const CENT = 1000;

/** Cost by resource, in cents that are not rounded. */
export interface CentsByResource {
  readonly cpu: number;
  readonly memory: number;
  readonly storage: number;
  /** Costs without a request, such as network; zero without an allocation. */
  readonly other: number;
}

/** Charged amounts: resources by their prices, and allocated money. */
type Priceable = Consumption & Partial<Allocated>;

/** Price of the resources, in unrounded cents. */
export function priceOf(charged: Priceable, prices: Prices): CentsByResource {
  const { allocatedCpu = 0, allocatedMemory = 0, allocatedStorage = 0, allocatedOther = 0 } = charged;
  const { cpu, memory, storage } = charged;
  return {
    cpu: (cpu / CORE / SECONDS) * prices.cpuCoreHour * 100 + allocatedCpu / CENT,
    memory: (memory / GIBIBYTE / SECONDS) * prices.memoryGibHour * 100 + allocatedMemory / CENT,
    storage: (storage / GIBIBYTE / SECONDS) * prices.storageGibHour * 100 + allocatedStorage / CENT,
    other: allocatedOther / CENT,
  };
}

/** Price of an hour of these requests, in unrounded cents. */
export function priceOfHour(requested: Requested, prices: Prices): CentsByResource {
  const { cpuMillicores, memoryMebibytes, storageMebibytes } = requested;
  const hour = { cpu: cpuMillicores * SECONDS, memory: memoryMebibytes * SECONDS, storage: storageMebibytes * SECONDS };
  return priceOf(hour, prices);
}

/** Price of all resources, in unrounded cents. */
export function totalPriceOf(charged: Priceable, prices: Prices): number {
  return sumOfCents(priceOf(charged, prices));
}

export const sumOfCents = ({ cpu, memory, storage, other }: CentsByResource): number => cpu + memory + storage + other;

/**
 * Parts in whole cents that add up to the whole, by the largest remainder method: each is rounded down, and the largest
 * losses get the remaining cents.
 *
 * @param whole in whole cents; differs from the sum of the parts by less than one for each part
 */
export function apportioned(whole: number, parts: readonly number[]): readonly number[] {
  const floors = parts.map((part) => Math.floor(part));
  const left = whole - floors.reduce((sum, part) => sum + part, 0);
  const byLoss = parts
    .map((part, index) => ({ index, loss: part - Math.floor(part) }))
    .sort((one, other) => other.loss - one.loss || one.index - other.index);
  const gaining = new Set(byLoss.slice(0, left).map(({ index }) => index));
  return floors.map((part, index) => part + Number(gaining.has(index)));
}

/** Money in the currency's own unit. */
export const amountOf = (cents: number): number => cents / 100;

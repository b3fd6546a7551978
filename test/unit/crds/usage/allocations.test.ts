import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { MOST_ALLOCATIONS } from "../../../../crds/environment/usage.schema.ts";
import {
  type Allocation,
  type Allocations,
  allocationsWith,
  chargedBetween,
  isAllocated,
  NOTHING_ALLOCATED,
} from "../../../../crds/usage/allocations.ts";
import { spansOf } from "../../../../crds/usage/usage.ts";

const HOUR = 3_600_000;
const at = (hours: number) => new Date(hours * HOUR).toISOString();
const atMs = (hours: number) => hours * HOUR;
const cost = (cpu: number) => ({ cpu, memory: 2 * cpu, storage: 0, other: 1 });
const allocation = (from: number, to: number, cpu: number): Allocation => ({
  from: at(from),
  to: at(to),
  ...cost(cpu),
});
const requested = { since: at(2), cpuMillicores: 1_000, memoryMebibytes: 0, storageMebibytes: 0 };
const usage = spansOf([requested]);

const all = (...added: Allocation[]): Allocations =>
  added.reduce<Allocations>((known, one) => allocationsWith(known, one), []);

describe("allocations", () => {
  test("that touch on the same day become one, in whatever order they come", () => {
    const joined = { from: at(1), to: at(4), cpu: 6, memory: 12, storage: 0, other: 3 };
    const [one, two, three] = [allocation(1, 2, 1), allocation(2, 3, 2), allocation(3, 4, 3)];
    expect(all(one, two, three)).toEqual([joined]);
    expect(all(three, one, two)).toEqual([joined]);
    expect(all(one, three)).toEqual([one, three]);
  });

  test("of two days stay apart: a day's cost is reported by the day", () => {
    expect(all(allocation(23, 24, 1), allocation(24, 25, 2))).toHaveLength(2);
  });

  test("have a bound: the oldest go, and are not asked for again", () => {
    const many = Array.from({ length: MOST_ALLOCATIONS + 5 }, (_, day) => allocation(24 * day, 24 * day + 1, 1));
    const kept = all(...many);
    expect(kept).toHaveLength(MOST_ALLOCATIONS);
    expect(kept.at(-1)).toEqual(many.at(-1));
    expect(isAllocated(kept, atMs(0), atMs(1))).toBe(true);
    expect(isAllocated(kept, atMs(24 * 50 + 1), atMs(24 * 50 + 2))).toBe(false);
  });

  test("are known of a time of which they have some", () => {
    const known = all(allocation(1, 2, 1), allocation(2, 3, 1));
    expect(isAllocated(known, atMs(1), atMs(3))).toBe(true);
    expect(isAllocated(known, atMs(1.5), atMs(2.5))).toBe(true);
    expect(isAllocated(known, atMs(2), atMs(4))).toBe(true);
    expect(isAllocated(known, atMs(3), atMs(4))).toBe(false);
    expect(isAllocated(undefined, atMs(1), atMs(2))).toBe(false);
  });

  test("of a time are taken once, also when another process adds them, or longer ones, again", () => {
    const [one, two] = [allocation(1, 2, 1), allocation(2, 3, 2)];
    const known = all(one, two);
    expect(all(one, two, two, one)).toEqual(known);
    expect(all(one, two, allocation(0, 4, 9), allocation(2, 4, 9))).toEqual(known);
  });
});

describe("what is charged", () => {
  const allocations = all(allocation(4, 8, 401));

  test("is what was allocated, and what was requested where nothing is", () => {
    expect(chargedBetween({ usage, allocations }, 0, atMs(10))).toEqual({
      cpu: 4 * 3600 * 1e3,
      memory: 0,
      storage: 0,
      knownSeconds: 8 * 3600,
      allocatedSeconds: 4 * 3600,
      allocatedCpu: 401,
      allocatedMemory: 802,
      allocatedStorage: 0,
      allocatedOther: 1,
    });
  });

  test("is what was requested where nothing is ever allocated", () => {
    const charged = { cpu: 3_600_000, memory: 0, storage: 0, knownSeconds: 3_600, ...NOTHING_ALLOCATED };
    expect(chargedBetween({ usage, allocations: undefined }, atMs(1), atMs(3))).toEqual(charged);
  });

  test("is known where only the allocation is", () => {
    expect(chargedBetween({ usage: undefined, allocations }, 0, atMs(10))).toMatchObject({
      cpu: 0,
      knownSeconds: 4 * 3600,
      allocatedSeconds: 4 * 3600,
      allocatedCpu: 401,
    });
    const late = spansOf([{ ...requested, since: at(7) }]);
    expect(chargedBetween({ usage: late, allocations }, 0, atMs(10)).knownSeconds).toBe(6 * 3_600);
  });

  test("in the parts of a time is what is charged in the whole", () => {
    const part = fc.record({ begin: fc.nat(200), length: fc.integer({ min: 1, max: 40 }), cpu: fc.nat(1_000_000) });
    const moment = fc.nat(atMs(240));
    fc.assert(
      fc.property(fc.array(part), fc.tuple(moment, moment, moment), (parts, moments) => {
        let end = 0;
        const apart = parts
          .sort((one, other) => one.begin - other.begin)
          .flatMap(({ begin, length, cpu }) => {
            const from = Math.max(begin, end);
            end = from + length;
            return [allocation(from, end, cpu)];
          });
        const known = { usage, allocations: all(...apart) };
        const [from = 0, between = 0, to = 0] = moments.toSorted((one, other) => one - other);
        const [first, second] = [chargedBetween(known, from, between), chargedBetween(known, between, to)];
        const whole = chargedBetween(known, from, to);
        for (const field of Object.keys(whole) as (keyof typeof whole)[]) {
          expect(first[field] + second[field]).toBe(whole[field]);
          expect(whole[field]).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });
});

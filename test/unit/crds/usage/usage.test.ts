import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { USAGE_MAX_CHANGES } from "../../../../crds/environment/usage.schema.ts";
import {
  consumedBetween,
  NOTHING_REQUESTED,
  requestedOf,
  spansOf,
  type Usage,
  usageAfter,
} from "../../../../crds/usage/usage.ts";

const at = (seconds: number) => new Date(seconds * 1000);
const cpu = (cpuMillicores: number) => ({ ...NOTHING_REQUESTED, cpuMillicores });

describe("what a quota counts", () => {
  test.each([
    [
      { "requests.cpu": "1250m", "requests.memory": "1536Mi", "requests.storage": "2Gi" },
      { cpuMillicores: 1_250, memoryMebibytes: 1_536, storageMebibytes: 2_048 },
    ],
    [
      { "requests.cpu": "2", "requests.memory": "1000000000", "requests.storage": "0", pods: "3" },
      { cpuMillicores: 2_000, memoryMebibytes: 954, storageMebibytes: 0 },
    ],
    [{ "requests.cpu": "2", "requests.memory": "1Gi" }, undefined],
    [undefined, undefined],
  ])("%j", (used, requested) => {
    expect(requestedOf(used)).toEqual(requested);
  });
});

describe("usage", () => {
  test("is what it was while nothing else is requested, or nothing is known", () => {
    const known = usageAfter(undefined, cpu(100), at(0));
    expect(known).toEqual([{ since: "1970-01-01T00:00:00.000Z", ...cpu(100) }]);
    expect(usageAfter(known, cpu(100), at(5))).toBe(known);
    expect(usageAfter(known, undefined, at(5))).toBe(known);
    expect(usageAfter(undefined, undefined, at(5))).toBeUndefined();
  });

  test("has so many changes at most, and what they add up to stays", () => {
    let usage: Usage | undefined;
    const hour = (index: number) => at(index * 3_600);
    // 100 and 300 in turns: whole numbers on average.
    for (let index = 0; index < 3 * USAGE_MAX_CHANGES; index += 1) {
      usage = usageAfter(usage, cpu(index % 2 === 0 ? 100 : 300), hour(index));
      expect(usage?.length).toBeLessThanOrEqual(USAGE_MAX_CHANGES);
    }
    const hours = 3 * USAGE_MAX_CHANGES;
    const consumed = consumedBetween(spansOf(usage ?? []), 0, hour(hours).getTime()).cpu;
    // An average is rounded to a thousandth of a core.
    expect(Math.abs(consumed - 200 * hours * 3_600)).toBeLessThanOrEqual(hours * 3_600);
    expect(consumedBetween(spansOf(usage ?? []), hour(hours - 2).getTime(), hour(hours - 1).getTime()).cpu).toBe(
      100 * 3_600,
    );
  });

  test("takes nothing away where the clock of the next leader is behind", () => {
    const usage = [100, 300, 200].reduce<Usage>(
      (known, amount, index) => usageAfter(known, cpu(amount), at([0, 100, 90][index] ?? 0)) ?? known,
      [],
    );
    expect(consumedBetween(spansOf(usage), 0, at(200).getTime()).cpu).toBe(100 * 100 + 200 * 110);
  });

  test("consumes in the parts of a time what it consumes in the whole", () => {
    const change = fc.record({ second: fc.nat(1_000), amount: fc.nat(4_000) });
    const moment = fc.nat(1_200_000);
    fc.assert(
      fc.property(fc.array(change), fc.tuple(moment, moment, moment), (changes, moments) => {
        const sorted = changes.sort((one, other) => one.second - other.second);
        const usage = sorted.reduce<Usage>(
          (known, { second, amount }) => usageAfter(known, cpu(amount), at(second)) ?? known,
          [],
        );
        const [from = 0, between = 0, to = 0] = [...moments].sort((one, other) => one - other);
        const parts = [consumedBetween(spansOf(usage), from, between), consumedBetween(spansOf(usage), between, to)];
        expect(parts.reduce((sum, part) => sum + part.cpu, 0)).toBe(consumedBetween(spansOf(usage), from, to).cpu);
      }),
    );
  });
});

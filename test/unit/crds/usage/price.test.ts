import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { apportioned, priceOf, totalPriceOf } from "../../../../crds/usage/price.ts";

test("a price is by the hour, of a core and of a GiB", () => {
  const prices = { cpuCoreHour: 2, memoryGibHour: 0.5, storageGibHour: 0.01 };
  const hour = 3_600;
  const consumed = { cpu: 1_500 * hour, memory: 2_048 * hour, storage: 10_240 * hour };
  expect(priceOf(consumed, prices)).toEqual({ cpu: 300, memory: 100, storage: 10, other: 0 });
  expect(totalPriceOf(consumed, prices)).toBe(410);
});

test("parts in cents add up to the whole, and none is a cent off", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1 }), (parts) => {
      const whole = Math.round(parts.reduce((sum, part) => sum + part, 0));
      const cents = apportioned(whole, parts);
      expect(cents.reduce((sum, part) => sum + part, 0)).toBe(whole);
      for (const [index, part] of parts.entries()) expect(Math.abs((cents[index] ?? 0) - part)).toBeLessThanOrEqual(1);
    }),
  );
});

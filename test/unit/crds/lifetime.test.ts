import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { deletableFrom, expiresAt, isExpired, reprieve, ttlHours } from "../../../crds/lifetime.ts";
import { environmentFixture, minutesLater } from "../../support/environment-fixture.ts";

const HOUR = 60;
type Given = NonNullable<Parameters<typeof environmentFixture>[0]>;

describe("the TTL in force", () => {
  test.each([
    ["what the spec says", { ttlHours: 7 }, { ttlHours: 9 }, 7],
    ["what was settled, when the spec no longer says", {}, { ttlHours: 9 }, 9],
    ["a day, when nobody ever said", {}, undefined, 24],
  ])("%s", (_rule, spec, status, expected) => {
    const environment = environmentFixture(status === undefined ? { spec } : { spec, status });
    expect(ttlHours(environment)).toBe(expected);
    expect(expiresAt(environment)).toEqual(minutesLater(expected * HOUR));
  });
});

describe("the end", () => {
  const expiryNotBefore = minutesLater(75).toISOString();
  test.each([
    ["a minute early", {}, 59, false],
    ["to the minute", {}, 60, true],
    ["protected, ever so late", { spec: { protected: true } }, 100_000, false],
    ["within a reprieve", { status: { expiryNotBefore } }, 74, false],
    ["after a reprieve", { status: { expiryNotBefore } }, 75, true],
    ["an older reprieve than the expiry", { spec: { ttlHours: 2 }, status: { expiryNotBefore } }, 100, false],
  ])("%s", (_rule, { spec = {}, ...given }: Given, minutes, expected) => {
    const environment = environmentFixture({ ...given, spec: { ttlHours: 1, ...spec } });
    expect(isExpired(environment, minutesLater(minutes))).toBe(expected);
  });

  test("never comes before the TTL, whatever else is stored", () => {
    const moments = fc.option(fc.integer({ min: 0, max: 20_000 }), { nil: undefined });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 168 }), moments, (hours, notBefore) => {
        const status = notBefore === undefined ? {} : { expiryNotBefore: minutesLater(notBefore).toISOString() };
        const environment = environmentFixture({ spec: { ttlHours: hours }, status });
        const end = deletableFrom(environment)?.getTime() ?? 0;
        expect(end).toBeGreaterThanOrEqual(expiresAt(environment).getTime());
        expect(isExpired(environment, new Date(end - 1))).toBe(false);
        expect(isExpired(environment, new Date(end))).toBe(true);
      }),
    );
  });
});

describe("a reprieve", () => {
  test.each([
    ["lowered into the past", { settled: 24, wanted: 1 }, 120, 135],
    ["lowered to within a quarter of an hour", { settled: 24, wanted: 1 }, 50, 65],
    ["lowered to exactly a quarter of an hour away", { settled: 24, wanted: 1 }, 45, undefined],
    ["lowered, but far away", { settled: 24, wanted: 12 }, 60, undefined],
    ["unchanged and past", { settled: 1, wanted: 1 }, 120, undefined],
    ["raised and still past", { settled: 1, wanted: 2 }, 180, undefined],
    ["never settled before", { settled: undefined, wanted: 1 }, 120, undefined],
  ])("%s", (_rule, { settled, wanted }, nowMinutes, expected) => {
    const status = settled === undefined ? undefined : { ttlHours: settled };
    const given = { spec: { ttlHours: wanted }, ...(status ? { status } : {}) };
    const granted = reprieve(environmentFixture(given), minutesLater(nowMinutes));
    expect(granted).toEqual(expected === undefined ? undefined : minutesLater(expected));
  });
});

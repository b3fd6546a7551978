import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  deletableFrom,
  expiresAt,
  gracePeriodEnd,
  isExpired,
  ttlHours,
} from "../../../../crds/environment/lifetime.ts";
import { environmentFixture, minutesLater } from "../../../support/fixtures/environment/environment-fixture.ts";

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
    ["within a grace period", { status: { expiryNotBefore } }, 74, false],
    ["after a grace period", { status: { expiryNotBefore } }, 75, true],
    ["an older grace period than the expiry", { spec: { ttlHours: 2 }, status: { expiryNotBefore } }, 100, false],
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

describe("a grace period", () => {
  const protectedBefore = { protected: true };
  const at = (minutes: number) => minutesLater(minutes).toISOString();

  test.each<[string, Given, number, number | undefined]>([
    ["lowered into the past", { status: { ttlHours: 24 } }, 120, 135],
    ["lowered to within a quarter of an hour", { status: { ttlHours: 24 } }, 50, 65],
    ["lowered to exactly a quarter of an hour away", { status: { ttlHours: 24 } }, 45, undefined],
    ["lowered, but far away", { spec: { ttlHours: 12 }, status: { ttlHours: 24 } }, 60, undefined],
    ["unchanged and past", { status: { ttlHours: 1 } }, 120, undefined],
    ["raised and still past", { spec: { ttlHours: 2 }, status: { ttlHours: 1 } }, 180, undefined],
    ["never settled before", {}, 120, undefined],
    ["protected no longer, and past", { status: { ttlHours: 1, ...protectedBefore } }, 120, 135],
    ["protected no longer, and far away", { spec: { ttlHours: 12 }, status: protectedBefore }, 120, undefined],
    ["protected still", { spec: { protected: true }, status: { ttlHours: 24, ...protectedBefore } }, 120, undefined],
    ["protected now", { spec: { protected: true }, status: { ttlHours: 1 } }, 120, undefined],
    ["never protected, and past", { spec: { protected: false }, status: { ttlHours: 1 } }, 120, undefined],
    ["lowered again within its grace period", { status: { ttlHours: 2, expiryNotBefore: at(135) } }, 134, undefined],
    ["lowered again after its grace period", { status: { ttlHours: 2, expiryNotBefore: at(135) } }, 136, undefined],
    ["lowered when little time was left", { spec: { ttlHours: 2 }, status: { ttlHours: 3 } }, 175, 180],
    ["lowered when no time was left", { spec: { ttlHours: 2 }, status: { ttlHours: 3 } }, 181, undefined],
    ["extended, then lowered again", { status: { ttlHours: 24, expiryNotBefore: at(135) } }, 200, 215],
  ])("%s", (_rule, { spec, ...given }, nowMinutes, expected) => {
    const granted = gracePeriodEnd(
      environmentFixture({ ...given, spec: { ttlHours: 1, ...spec } }),
      minutesLater(nowMinutes),
    );
    expect(granted).toEqual(expected === undefined ? undefined : minutesLater(expected));
  });
});

test("no row of changes of its TTL keeps an environment for longer than the longest of them", () => {
  const change = fc.record({ afterMinutes: fc.integer({ min: 0, max: 20 }), hours: fc.integer({ min: 1, max: 4 }) });
  fc.assert(
    fc.property(fc.array(change, { minLength: 60, maxLength: 60 }), (changes) => {
      let environment = environmentFixture({ spec: { ttlHours: 1 }, status: { ttlHours: 1 } });
      let longest = 1;
      let minutes = 0;
      for (const { afterMinutes, hours } of changes) {
        minutes += afterMinutes;
        longest = Math.max(longest, hours);
        const changed = { ...environment, spec: { ...environment.spec, ttlHours: hours } };
        const granted = gracePeriodEnd(changed, minutesLater(minutes));
        const status = { ...environment.status, ttlHours: hours };
        environment = {
          ...changed,
          status: granted === undefined ? status : { ...status, expiryNotBefore: granted.toISOString() },
        };
      }
      expect(isExpired(environment, minutesLater(longest * HOUR))).toBe(true);
    }),
  );
});

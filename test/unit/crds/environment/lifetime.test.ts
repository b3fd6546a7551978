import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import {
  deletableFrom,
  expiresAt,
  gracePeriodEnd,
  isEndedByExpiry,
  isExpired,
  protectionLimit,
  ttlHours,
} from "../../../../crds/environment/lifetime.ts";
import { environmentFixture, minutesLater } from "../../../support/fixtures/environment/environment-fixture.ts";

const HOUR = 60;
type Given = NonNullable<Parameters<typeof environmentFixture>[0]>;

describe("the TTL in force", () => {
  test.each([
    ["what the spec says", { ttlHours: 7 }, { ttlHours: 9 }, 7],
    ["what was settled, when the spec no longer says", {}, { ttlHours: 9 }, 9],
    ["a day, by default", {}, undefined, 24],
  ])("%s", (_rule, spec, status, expected) => {
    const environment = environmentFixture(status === undefined ? { spec } : { spec, status });
    expect(ttlHours(environment)).toBe(expected);
    expect(expiresAt(environment)).toEqual(minutesLater(expected * HOUR));
  });
});

test("the end of one that was built later is to the second, as in the link of its warning", () => {
  const built = { specHash: "", switches: {}, writtenAt: "", fieldsHash: "", builtFrom: "2026-03-01T10:00:12.345Z" };
  const environment = environmentFixture({ spec: { ttlHours: 1 }, status: { manifest: built } });
  expect(expiresAt(environment)).toEqual(new Date("2026-03-01T11:00:12.000Z"));
});

describe("the end", () => {
  const expiryNotBefore = minutesLater(75).toISOString();
  const protectedUntil = minutesLater(90).toISOString();
  test.each([
    ["a minute early", {}, 59, false],
    ["to the minute", {}, 60, true],
    ["protected, ever so late", { spec: { protected: true } }, 100_000, false],
    ["within a protection that ends", { spec: { protectedUntil } }, 89, false],
    ["at the end of a protection", { spec: { protectedUntil } }, 90, true],
    [
      "a protection that ends, although `protected` is false",
      { spec: { protected: false, protectedUntil } },
      89,
      false,
    ],
    ["protected after the end of a protection", { spec: { protected: true, protectedUntil } }, 100_000, false],
    ["a protection that was removed", { status: { ttlHours: 1, protectedUntil } }, 60, true],
    ["a protection shorter than the TTL", { spec: { ttlHours: 2, protectedUntil } }, 119, false],
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
  const until = (minutes: number) => ({ protectedUntil: at(minutes) });

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
    ["protected until now", { spec: until(60), status: { ttlHours: 1, ...until(60) } }, 61, undefined],
    ["lifted at its end", { status: { ttlHours: 1, ...until(90) } }, 91, undefined],
    ["lifted before its end", { status: { ttlHours: 1, ...until(90) } }, 80, 90],
    ["lifted long before its end", { status: { ttlHours: 1, ...until(190) } }, 80, 95],
    ["protected without end before", { spec: until(60), status: { ttlHours: 1, ...protectedBefore } }, 120, 135],
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

function reconciled(
  { status: former, ...environment }: EphemeralEnvironment,
  spec: Pick<EphemeralEnvironment["spec"], "ttlHours" | "protected" | "protectedUntil">,
  minutes: number,
): EphemeralEnvironment {
  const changed = { ...environment, spec: { backend: environment.spec.backend, ...spec } };
  const granted = gracePeriodEnd({ ...changed, status: former ?? {} }, minutesLater(minutes));
  const notBefore = granted?.toISOString() ?? former?.expiryNotBefore;
  return { ...changed, status: { ...spec, ...(notBefore === undefined ? {} : { expiryNotBefore: notBefore }) } };
}

describe("the end of a protection", () => {
  test("is 168 hours after the expiry", () => {
    const environment = environmentFixture({ spec: { ttlHours: 2 } });
    expect(protectionLimit(environment)).toEqual(minutesLater(170 * HOUR));
  });

  test("abuse case 125: no row of protections and their removals keeps an environment beyond the last of them", () => {
    const change = fc.record({ afterMinutes: fc.integer({ min: 0, max: 600 }), isProtected: fc.boolean() });
    fc.assert(
      fc.property(fc.array(change, { minLength: 60, maxLength: 60 }), (changes) => {
        let environment = environmentFixture({ spec: { ttlHours: 1 }, status: { ttlHours: 1 } });
        const until = protectionLimit(environment).toISOString();
        let minutes = 0;
        for (const { afterMinutes, isProtected } of changes) {
          minutes += afterMinutes;
          const shield = isProtected ? { protectedUntil: until } : {};
          environment = reconciled(environment, { ttlHours: 1, ...shield }, minutes);
        }
        expect(isExpired(environment, new Date(until))).toBe(true);
      }),
    );
  });

  test("stays the moment from which it could be deleted, once the operator has removed it", () => {
    const protectedUntil = minutesLater(90).toISOString();
    const status = { ttlHours: 1, protectedUntil };
    const metadata = { deletionTimestamp: minutesLater(91).toISOString() };
    const lifted = environmentFixture({ spec: { ttlHours: 1 }, status, metadata });
    expect(deletableFrom(lifted)).toEqual(minutesLater(90));
    expect(isEndedByExpiry(lifted, minutesLater(91).toISOString())).toBe(true);
    expect(isEndedByExpiry(lifted, minutesLater(80).toISOString())).toBe(false);
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
        environment = reconciled(environment, { ttlHours: hours }, minutes);
      }
      expect(isExpired(environment, minutesLater(longest * HOUR))).toBe(true);
    }),
  );
});

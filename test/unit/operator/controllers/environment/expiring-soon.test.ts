import { describe, expect, test } from "@jest/globals";
import { HOUR_MS } from "../../../../../crds/durations.ts";
import type { EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import { createExpiringSoon } from "../../../../../operator/controllers/environment/events.ts";
import { memoryEventRecorder } from "../../../../support/doubles/memory/event-recorder.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { CREATED, environmentFixture } from "../../../../support/fixtures/environment/environment-fixture.ts";

const living = (spec: Partial<EphemeralEnvironment["spec"]>) => environmentFixture({ spec });

function scene() {
  const clock = new TestClock(CREATED);
  const events = memoryEventRecorder(clock);
  const soon = createExpiringSoon({ events, clock });
  return { clock, soon, reported: () => events.list().map(({ message, count }) => `${count} ${message.slice(0, 35)}`) };
}

describe("an expiry within the hour", () => {
  test("is published once, however often it is seen, and again after an extension", () => {
    const { clock, soon, reported: reports } = scene();
    soon.check(living({ ttlHours: 24 }));
    expect(reports()).toEqual([]);
    clock.advance(23 * HOUR_MS);
    for (const _reconcile of [1, 2, 3]) soon.check(living({ ttlHours: 24 }));
    expect(reports()).toEqual(["1 expires at 2026-01-02T00:00:00.000Z"]);
    soon.check(living({ ttlHours: 48 }));
    clock.advance(24 * HOUR_MS);
    soon.check(living({ ttlHours: 48 }));
    expect(reports()).toEqual(["1 expires at 2026-01-02T00:00:00.000Z", "1 expires at 2026-01-03T00:00:00.000Z"]);
  });

  test.each([
    ["that is first seen so near", { ttlHours: 1 }, 0, { ttlHours: 1 }],
    ["of a lowered TTL", { ttlHours: 24 }, 0, { ttlHours: 1 }],
    ["of a protected environment", { ttlHours: 24 }, 23.5, { ttlHours: 24, protected: true }],
    ["that is over", { ttlHours: 24 }, 25, { ttlHours: 24 }],
  ])("%s is left out", (_what, first, hours, then) => {
    const { clock, soon, reported: reports } = scene();
    soon.check(living(first));
    clock.advance(hours * HOUR_MS);
    soon.check(living(then));
    expect(reports()).toEqual([]);
  });
});

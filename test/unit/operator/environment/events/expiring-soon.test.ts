import { expect, test } from "@jest/globals";
import { createExpiringSoon } from "../../../../../operator/environment/events/expiring-soon.ts";
import { memoryEventRecorder } from "../../../../support/doubles/memory/event-recorder.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { CREATED, environmentFixture, UID } from "../../../../support/fixtures/environment-fixture.ts";

const HOUR_MS = 3_600_000;

function scene() {
  const clock = new TestClock(CREATED);
  const events = memoryEventRecorder(clock);
  const check = createExpiringSoon({ events, clock });
  return { clock, check, told: () => events.list().map(({ message, count }) => [message, count]) };
}

test("an expiry is told once, within its last hour, and again after an extension", () => {
  const { clock, check, told } = scene();
  const environment = environmentFixture({ spec: { ttlHours: 3 } });
  for (let passed = 0; passed < 18; passed += 1) {
    check.check(environment);
    clock.advance(HOUR_MS / 6);
    if (passed < 12) expect(told()).toEqual([]);
  }
  const message = "expires at 2026-01-01T03:00:00.000Z, and is deleted then unless it is extended or protected";
  expect(told()).toEqual([[message, 1]]);
  const extended = environmentFixture({ spec: { ttlHours: 5 } });
  for (let passed = 0; passed < 8; passed += 1) {
    check.check(extended);
    clock.advance(HOUR_MS / 6);
  }
  expect(told()).toHaveLength(2);
});

test("one that is near when it is first seen, protected or going is not told", () => {
  const { clock, check, told } = scene();
  check.check(environmentFixture({ spec: { ttlHours: 1 } }));
  check.check(environmentFixture({ spec: { ttlHours: 3 } }));
  clock.advance(2 * HOUR_MS);
  check.check(environmentFixture({ spec: { ttlHours: 3, protected: true } }));
  check.check(environmentFixture({ spec: { ttlHours: 5 } }));
  check.forget(UID);
  clock.advance(2 * HOUR_MS);
  check.check(environmentFixture({ spec: { ttlHours: 5 } }));
  expect(told()).toEqual([]);
});

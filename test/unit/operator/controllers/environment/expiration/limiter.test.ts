import { describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../../../config/settings.ts";
import type { EphemeralEnvironment } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { CONFIRM_DELETION_ANNOTATION } from "../../../../../../crds/group.ts";
import {
  areExpirationsBlocked,
  createExpirationLimiter,
  oldestFirst,
} from "../../../../../../operator/controllers/environment/expiration/limiter.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";
import { environmentFixture, minutesLater } from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { silentLog } from "../../../../../support/fixtures/silent-log.ts";
import { testSettings } from "../../../../../support/fixtures/test-settings.ts";

/** Created that many seconds after the others, by default for an hour. */
function made(name: string, seconds: number, { confirmed = false, ttlHours = 1 } = {}): EphemeralEnvironment {
  return environmentFixture({
    metadata: {
      name,
      uid: `uid-${name}`,
      creationTimestamp: minutesLater(seconds / 60).toISOString(),
      ...(confirmed ? { annotations: { [CONFIRM_DELETION_ANNOTATION]: "true" } } : {}),
    },
    spec: { ttlHours },
  });
}

const many = (count: number, prefix: string, more: Parameters<typeof made>[2] = {}) =>
  Array.from({ length: count }, (_, index) => made(`${prefix}-${index}`, index / 1000, more));

/** @param lookMs duration of a list of all environments */
function scene(environments: EphemeralEnvironment[], expiry: object = {}, lookMs = 0) {
  const clock = new TestClock(minutesLater(61).toISOString());
  const said: string[] = [];
  const world = {
    environments: {
      list() {
        clock.advance(lookMs);
        return environments;
      },
    },
    settings: settingsFrom({ ...testSettings, expiry }),
    clock,
  };
  const wave = createExpirationLimiter({
    ...world,
    log: silentLog,
    events: { publish: ({ reason }) => void said.push(reason) },
  });
  const turns = () => environments.map((environment) => wave.slotOf(environment));
  const waits = () => turns().map((turn) => (turn.state === "blocked" ? "blocked" : turn.inMs));
  const isBlocked = () => areExpirationsBlocked(world);
  return { clock, said, wave, waits, environments, isBlocked };
}

describe("the expiration limiter", () => {
  test("deletes at a limited rate, the oldest first", () => {
    const { waits, clock } = scene([made("c", 3), made("a", 1), made("e", 5), made("b", 2), made("d", 4)], {
      perSecond: 2,
    });
    expect(waits()).toEqual([1000, 0, 2000, 0, 1000]);
    clock.advance(400);
    expect(waits()).toEqual([600, 0, 1600, 0, 600]);
  });

  test("does not delay slots by the time that a list took", () => {
    const { waits, clock } = scene([made("a", 1), made("b", 2)], {}, 3);
    expect(waits()).toEqual([0, 0]);
    clock.advance(1_000);
    expect(waits()).toEqual([0, 0]);
  });

  test("moves up as the older ones go", () => {
    const { waits, clock, environments } = scene([made("a", 1), made("b", 2), made("c", 3)], { perSecond: 1 });
    expect(waits()).toEqual([0, 1000, 2000]);
    environments[0] = environmentFixture({
      ...environments[0],
      metadata: { ...environments[0]?.metadata, deletionTimestamp: minutesLater(61).toISOString() },
    });
    clock.advance(1000);
    expect(waits().slice(1)).toEqual([0, 1000]);
  });

  test("includes what falls due before its next list", () => {
    const soon = made("soon", 60.9);
    const { wave, waits, clock, environments } = scene([made("a", 1)], { perSecond: 1 });
    environments.push(soon);
    expect(waits()).toEqual([0, 1000]);
    clock.advance(950);
    expect(wave.slotOf(soon)).toEqual({ state: "go", inMs: 50 });
  });

  test.each<[string, EphemeralEnvironment[], boolean]>([
    ["three of three", many(3, "due"), false],
    ["fifty of fifty", many(50, "due"), false],
    ["fifty-one of fifty-one", many(51, "due"), true],
    ["half of many", [...many(60, "due"), ...many(60, "not", { ttlHours: 9 })], false],
    ["more than half of many", [...many(61, "due"), ...many(59, "not", { ttlHours: 9 })], true],
    ["500 of 10,000", [...many(500, "due"), ...many(9_500, "not", { ttlHours: 9 })], false],
    ["all but those that are confirmed", [...many(60, "ok", { confirmed: true }), ...many(50, "due")], false],
  ])("blocks when too many are due at once: %s", (_what, environments, isHeld) => {
    const { wave, said, isBlocked } = scene(environments);
    expect(isBlocked()).toBe(isHeld);
    const due = environments.find(({ metadata }) => metadata.name.startsWith("due-")) as EphemeralEnvironment;
    expect(wave.slotOf(due).state).toBe(isHeld ? "blocked" : "go");
    expect(said).toEqual(isHeld ? ["ExpirationsBlocked"] : []);
  });

  test("deletes what an admin confirmed, although the rest is blocked", () => {
    const confirmed = made("ok", 1, { confirmed: true });
    const { wave } = scene([confirmed, ...many(51, "due")]);
    expect(wave.slotOf(confirmed).state).toBe("go");
  });

  test("deletes at its rate what an admin confirmed, however many older ones are blocked", () => {
    const confirmed = [made("ok-1", 1, { confirmed: true }), made("ok-2", 2, { confirmed: true })];
    const { waits } = scene([...confirmed, ...many(51, "due")], { perSecond: 1 });
    expect(waits().slice(0, 2)).toEqual([0, 1_000]);
  });

  test("puts what had a slot and can't be deleted at the end", () => {
    const { waits, clock } = scene([made("stuck", 1), made("b", 2), made("c", 3)], { perSecond: 1 });
    expect(waits()).toEqual([0, 1_000, 2_000]);
    clock.advance(1_000);
    expect(waits()).toEqual([2_000, 0, 1_000]);
    clock.advance(1_000);
    expect(waits()).toEqual([1_000, 2_000, 0]);
  });

  test("continues when fewer are due, and reports once an hour that it blocks", () => {
    const { waits, clock, said, environments } = scene(many(60, "due"));
    for (let minute = 0; minute < 61; minute += 1) {
      expect(waits()[0]).toBe("blocked");
      clock.advance(60_000);
    }
    expect(said).toHaveLength(2);
    environments.splice(0, 20);
    expect(waits()[0]).toBe(0);
  });
});

test("what never expires comes last", () => {
  const kept = environmentFixture({ metadata: { name: "kept" }, spec: { protected: true } });
  const names = oldestFirst([kept, made("b", 2), kept, made("a", 1)]).map(({ metadata }) => metadata.name);
  expect(names).toEqual(["a", "b", "kept", "kept"]);
});

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { findCondition } from "../../../crds/conditions.ts";
import { HOUR_MS, MINUTE_MS } from "../../../crds/durations.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { WAKE_ANNOTATION } from "../../../crds/group.ts";
import type { SleepWish } from "../../../crds/sleep.schema.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { correctedClock } from "../../support/faults/skewed-clock.ts";
import { applicationValues } from "../../support/fixtures/application-values.ts";
import { backendOnly, createWorld, type World } from "../../support/worlds/environment-world.ts";

const clock = correctedClock();
let world: World;

beforeAll(async () => {
  world = await createWorld();
  await world.startOperator({ clock });
}, 180_000);
afterAll(() => world.stop(), 60_000);

/** Awake for two hours a day, of which one is left. */
function hoursAroundNow(): SleepWish {
  const timeOf = (ms: number) => new Date(ms).toISOString().slice(11, 16);
  const now = clock.now().getTime();
  return { schedule: { timeZone: "UTC", awake: [`Mon-Sun ${timeOf(now - HOUR_MS)}-${timeOf(now + HOUR_MS)}`] } };
}

const sleepOf = ({ status }: EphemeralEnvironment) => status?.sleep;
const isAsleep = (found: EphemeralEnvironment) =>
  found.status?.phase === "ready" && findCondition(found.status.conditions, "Asleep")?.status === "True";
const isAwake = (found: EphemeralEnvironment) => found.status?.phase === "ready" && sleepOf(found)?.state === "awake";

/** The time passes at once, so no timer of before tells the operator. */
async function pass(name: string, ms: number): Promise<void> {
  clock.correct(ms);
  await world.reconcile(name);
}

describe("an environment with a schedule", () => {
  test("sleeps outside its hours, wakes when a person wants it or they begin, and its spec stays as it is", async () => {
    const spec = { ...backendOnly, ttlHours: 168, sleep: hoursAroundNow() };
    await world.create("worker", spec);
    const made = await world.expectState("worker", "awake", isAwake);
    const awake = await applicationValues(world.admin, "worker");

    await pass("worker", HOUR_MS + MINUTE_MS);
    const asleep = await world.expectState("worker", "asleep", isAsleep);
    expect(sleepOf(asleep)).toMatchObject({ state: "asleep", cause: "schedule" });
    expect(asleep.spec).toEqual(made.spec);
    expect(findCondition(asleep.status?.conditions, "Suspended")).toBeUndefined();
    expect(await applicationValues(world.admin, "worker")).toEqual({
      ...awake,
      backend: { ...awake?.backend, replicas: 0 },
      suspended: true,
    });

    await world.admin.patch(
      environmentType,
      { name: "worker" },
      { metadata: { annotations: { [WAKE_ANNOTATION]: "now" } } },
      { as: "merge" },
    );
    const woken = await world.expectState("worker", "awake", isAwake);
    expect(sleepOf(woken)).toMatchObject({ cause: "person", lastHandledWakeAt: "now" });
    expect(findCondition(woken.status?.conditions, "Asleep")).toBeUndefined();
    expect(await applicationValues(world.admin, "worker")).toEqual(awake);

    await pass("worker", 24 * HOUR_MS);
    await world.expectState("worker", "asleep after the next hours", isAsleep);
    await pass("worker", 22 * HOUR_MS);
    const next = await world.expectState("worker", "awake", isAwake);
    expect(sleepOf(next)).toMatchObject({ cause: "schedule" });
  }, 90_000);

  test("has that of its Repository, unless its own is empty", async () => {
    await world.register("sleepy-api", { sleep: hoursAroundNow() });
    const backend = { ...backendOnly.backend, repository: "sleepy-api" };
    await world.create("sleepy", { ...backendOnly, backend });
    await world.create("sleepless", { ...backendOnly, backend, sleep: {} });
    const sleepy = await world.expectPhase("sleepy", "ready");
    expect(sleepOf(sleepy)?.schedule.timeZone).toBe("UTC");
    expect((await world.expectPhase("sleepless", "ready")).status).not.toHaveProperty("sleep");
  }, 60_000);
});

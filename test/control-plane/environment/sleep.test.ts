import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { findCondition } from "../../../crds/conditions.ts";
import { HOUR_MS, MINUTE_MS } from "../../../crds/durations.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { WAKE_ANNOTATION } from "../../../crds/group.ts";
import type { SleepWish } from "../../../crds/sleep.schema.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { ObservedRequests } from "../../../operator/controllers/activity/observed-requests.ts";
import { correctedClock } from "../../support/faults/skewed-clock.ts";
import { applicationValues } from "../../support/fixtures/application-values.ts";
import { backendOnly, createWorld, type World } from "../../support/worlds/environment-world.ts";

const clock = correctedClock();
const observedRequests = new ObservedRequests({ clock, hasSource: true });
let world: World;

beforeAll(async () => {
  world = await createWorld();
  await world.startOperator({ clock, onPorts: (ports) => ({ ...ports, observedRequests }) });
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

async function wake(name: string): Promise<void> {
  const metadata = { annotations: { [WAKE_ANNOTATION]: "now" } };
  await world.admin.patch(environmentType, { name }, { metadata }, { as: "merge" });
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
    const requested = made.status?.usage?.at(-1)?.cpuMillicores;
    const { since } = sleepOf(asleep) ?? {};
    expect(asleep.status?.sleeps).toMatchObject([{ cause: "schedule", since, awake: { cpuMillicores: requested } }]);
    expect(asleep.spec).toEqual(made.spec);
    expect(findCondition(asleep.status?.conditions, "Suspended")).toBeUndefined();
    expect(await applicationValues(world.admin, "worker")).toEqual({
      ...awake,
      backend: { ...awake?.backend, replicas: 0 },
      suspended: true,
    });

    await wake("worker");
    const woken = await world.expectState("worker", "awake", isAwake);
    expect(sleepOf(woken)).toMatchObject({ cause: "person", lastHandledWakeAt: "now" });
    expect(findCondition(woken.status?.conditions, "Asleep")).toBeUndefined();
    expect(await applicationValues(world.admin, "worker")).toEqual(awake);
    const [past] = woken.status?.sleeps ?? [];
    expect(past).toMatchObject({ cause: "schedule", since, wokenBy: "person", awakeAt: sleepOf(woken)?.since });

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
    expect(sleepOf(sleepy)?.schedule?.timeZone).toBe("UTC");
    expect((await world.expectPhase("sleepless", "ready")).status).not.toHaveProperty("sleep");
  }, 60_000);
});

describe("an environment that sleeps when idle", () => {
  test("does so after its last request, and wakes when a person wants it", async () => {
    await world.create("drowsy", { ...backendOnly, ttlHours: 168, sleep: { afterIdleMinutes: 10 } });
    const made = await world.expectState("drowsy", "awake", isAwake);
    const read = (requests: number) =>
      observedRequests.record([{ uid: made.metadata.uid, requests, probes: 0, minimum: 1 }]);
    read(0);
    await pass("drowsy", 9 * MINUTE_MS);
    const requestedAt = clock.now();
    read(1);
    await pass("drowsy", 2 * MINUTE_MS);
    const used = await world.expectState("drowsy", "awake after a request", isAwake);
    const { lastActivityAt = "", nextAt = "" } = sleepOf(used) ?? {};
    expect(Date.parse(lastActivityAt) - requestedAt.getTime()).toBeGreaterThanOrEqual(0);
    expect(Date.parse(nextAt) - Date.parse(lastActivityAt)).toBe(10 * MINUTE_MS);

    await pass("drowsy", 9 * MINUTE_MS);
    const asleep = await world.expectState("drowsy", "asleep", isAsleep);
    expect(sleepOf(asleep)).toMatchObject({ state: "asleep", cause: "idle", lastActivityAt });
    expect(asleep.spec).toEqual(made.spec);
    expect((await applicationValues(world.admin, "drowsy"))?.suspended).toBe(true);

    await wake("drowsy");
    const woken = await world.expectState("drowsy", "awake", isAwake);
    expect(sleepOf(woken)).toMatchObject({ cause: "person", lastHandledWakeAt: "now" });
  }, 60_000);
});

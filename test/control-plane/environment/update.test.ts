import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { findCondition } from "../../../crds/conditions.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import type { Fate } from "../../support/doubles/argocd-stand-in.ts";
import { concernedAmong, recordWrites } from "../../support/faults/request-interceptors.ts";
import { correctedClock } from "../../support/faults/skewed-clock.ts";
import { applicationValues } from "../../support/fixtures/application-values.ts";
import { writtenVersion } from "../../support/fixtures/environment/environment-inventory.ts";
import {
  backendOnly,
  COMMIT,
  createWorld,
  type RunningOperator,
  type World,
} from "../../support/worlds/environment-world.ts";

let world: World;
let running: RunningOperator;
const clock = correctedClock();
beforeAll(async () => {
  world = await createWorld();
  running = await world.startOperator({ clock });
}, 180_000);
afterAll(() => world.stop(), 60_000);

const NEXT = "b".repeat(40);
const commitIs = (commit: string): Partial<EnvironmentSpec> => ({ backend: { ...backendOnly.backend, commit } });
const change = (name: string, spec: object) => world.admin.patch(environmentType, { name }, { spec }, { as: "merge" });
const imageIs = (commit: string) => `docker.io/local/test-backend:${commit}`;
const readyOf = ({ status }: EphemeralEnvironment) => findCondition(status?.conditions, "Ready");

/** Sets the behaviour of an application with that commit; all others are healthy. */
function decide(name: string, commit: string, fate: Fate): void {
  world.argocd.decide(name, ({ backend }) =>
    (backend as { image: string }).image === imageIs(commit) ? fate : "healthy",
  );
}

/** Keeps an application degraded for two minutes, long enough to count. */
async function outlast(name: string): Promise<void> {
  const isDegraded = ({ status }: EphemeralEnvironment) =>
    findCondition(status?.conditions, "ApplicationSynced")?.reason === "Degraded";
  await world.expectState(name, "called degraded", isDegraded);
  clock.correct(120_000);
  await world.reconcile(name);
}

async function kept(environment: EphemeralEnvironment) {
  const inventory = [...(await world.inventory(environment))];
  const children = inventory.filter(([title]) => !/^(EphemeralEnvironment|Application)\//.test(title));
  const { status } = (await world.find(environment.metadata.name)) ?? {};
  return {
    children: new Map(children.map(([title, child]) => [title, writtenVersion(child)])),
    lasting: [status?.expiresAt, status?.readyAt, status?.urls, status?.secrets],
  };
}

async function given(name: string, spec: EnvironmentSpec = backendOnly) {
  const made = await world.create(name, spec);
  await world.expectPhase(name, "ready");
  return { made, before: await kept(made) };
}

describe("another commit", () => {
  test("is brought to the running environment, which says what runs until it does", async () => {
    const { made, before } = await given("moved");
    decide("moved", NEXT, "ignored");
    await change("moved", commitIs(NEXT));
    const updating = await world.expectPhase("moved", "updating");
    expect(updating.status?.components?.backend).toMatchObject({ commit: COMMIT, image: imageIs(COMMIT) });
    expect((await applicationValues(world.admin, "moved"))?.backend.image).toBe(imageIs(NEXT));

    decide("moved", NEXT, "healthy");
    const ready = await world.expectPhase("moved", "ready");
    expect(ready.status?.components?.backend).toMatchObject({ commit: NEXT, image: imageIs(NEXT) });
    expect(await kept(made)).toEqual(before);
  }, 60_000);

  test.each(["degraded", "unsyncable"] as const)(
    "that is %s fails, leaves what runs alone, and heals with the former one",
    async (fate) => {
      const name = `failing-${fate}`;
      const { made, before } = await given(name);
      decide(name, NEXT, fate);
      await change(name, commitIs(NEXT));
      if (fate === "degraded") await outlast(name);
      const failed = await world.expectPhase(name, "failed");
      expect(readyOf(failed)).toMatchObject({ status: "False", reason: expect.any(String) });
      expect(failed.status?.components?.backend).toMatchObject({ commit: COMMIT, image: imageIs(COMMIT) });
      expect(findCondition(failed.status?.conditions, "UrlsReady")?.status).toBe("True");
      expect(await kept(made)).toEqual(before);

      await change(name, commitIs(COMMIT));
      const healed = await world.expectState(
        name,
        "running the former commit again",
        ({ status }) => status?.phase === "ready" && status.observedGeneration === 3,
      );
      expect(healed.status?.components?.backend).toMatchObject({ commit: COMMIT });
      expect((await applicationValues(world.admin, name))?.backend.image).toBe(imageIs(COMMIT));
      expect(await kept(made)).toEqual(before);
    },
    60_000,
  );

  test("that failed heals by itself when it comes up after all", async () => {
    await given("late");
    decide("late", NEXT, "degraded");
    await change("late", commitIs(NEXT));
    await outlast("late");
    await world.expectPhase("late", "failed");
    decide("late", NEXT, "healthy");
    const ready = await world.expectPhase("late", "ready");
    expect(ready.status?.components?.backend?.commit).toBe(NEXT);
  }, 60_000);
});

describe("another override", () => {
  test("reaches the running environment as a value, and is taken back as one", async () => {
    const { made, before } = await given("overridden");
    await change("overridden", { overrides: { backend: { replicas: 3 } } });
    await world.expectState("overridden", "running it", ({ status }) => status?.observedGeneration === 2);
    await world.expectPhase("overridden", "ready");
    expect((await applicationValues(world.admin, "overridden"))?.backend.replicas).toBe(3);
    await change("overridden", { overrides: null });
    await world.expectState("overridden", "running without it", ({ status }) => status?.observedGeneration === 3);
    expect((await applicationValues(world.admin, "overridden"))?.backend).not.toHaveProperty("replicas");
    expect(await kept(made)).toEqual(before);
  }, 60_000);
});

describe("another TTL", () => {
  test("moves the expiry and writes to nothing that belongs to the environment", async () => {
    const { made } = await given("extended");
    await running.stop();
    const recording = recordWrites(concernedAmong(["extended"]));
    running = await world.startOperator({ clock, onRequest: recording.interceptor });
    const before = await world.inventory(made);
    await change("extended", { ttlHours: 48 });
    const extended = await world.expectState("extended", "extended", ({ status }) => status?.ttlHours === 48);
    expect(extended.status).toMatchObject({
      phase: "ready",
      expiresAt: new Date(Date.parse(made.metadata.creationTimestamp) + 48 * 3_600_000).toISOString(),
    });
    expect(extended.status).not.toHaveProperty("rollout");
    await world.reconcile("extended");
    // One for the change, one for this test's reconcile.
    const statusWrites = [1, 2].map((number) => `patch EphemeralEnvironment/status NAME #${number}`);
    expect(recording.writes("extended")).toEqual(statusWrites);
    const versions = (inventory: typeof before) =>
      [...inventory].filter(([title]) => !title.startsWith("Eph")).map(([t, child]) => [t, writtenVersion(child)]);
    expect(versions(await world.inventory(made))).toEqual(versions(before));
  }, 60_000);
});

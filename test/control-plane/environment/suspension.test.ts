import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { findCondition } from "../../../crds/conditions.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { podKind } from "../../../operator/kit/client/kinds.ts";
import type { UrlProber } from "../../../operator/ports/url-prober.ts";
import { clockAhead, serverClockAhead } from "../../support/faults/skewed-clock.ts";
import { applicationValues } from "../../support/fixtures/application-values.ts";
import { writtenVersion } from "../../support/fixtures/environment/environment-inventory.ts";
import { untilCounted } from "../../support/plane/counted-quota.ts";
import { backendOnly, createWorld, type RunningOperator, type World } from "../../support/worlds/environment-world.ts";

let world: World;
let running: RunningOperator;
const silent = new Set<string>();
const requested: string[] = [];
const prober: UrlProber = {
  async probe(url) {
    const name = new URL(url).hostname.split(/--api\.|\./)[0] ?? "";
    requested.push(name);
    const status = silent.has(name) ? "unreachable" : "healthy";
    return { status, responseTimeMs: 1, message: "as the test decided" };
  },
};

beforeAll(async () => {
  world = await createWorld();
  running = await world.startOperator({ prober });
}, 180_000);
afterEach(() => silent.clear());
afterAll(() => world.stop(), 60_000);

const NEXT = "b".repeat(40);
const change = (name: string, spec: object) => world.admin.patch(environmentType, { name }, { spec }, { as: "merge" });
const valuesOf = (name: string) => applicationValues(world.admin, name);
const sleeps = ({ status }: EphemeralEnvironment) =>
  status?.phase === "ready" && findCondition(status.conditions, "Suspended")?.status === "True";
const isAwake = ({ status }: EphemeralEnvironment) =>
  status?.phase === "ready" && findCondition(status.conditions, "Suspended") === undefined;

/** Objects that a suspension must keep: the namespace, its secrets, and all else but the application. */
async function kept(made: EphemeralEnvironment) {
  const inventory = [...(await world.inventory(made))];
  const others = inventory.filter(([title]) => !/^(EphemeralEnvironment|Application)\//.test(title));
  return new Map(others.map(([title, object]) => [title, { version: writtenVersion(object), data: object.data }]));
}

async function given(name: string, spec: EnvironmentSpec = backendOnly) {
  const made = await world.create(name, spec);
  await world.expectPhase(name, "ready");
  await untilCounted(world.admin, name);
  return { made, before: await kept(made), awake: await valuesOf(name) };
}

async function runPod(namespace: string, name: string): Promise<void> {
  const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };
  await world.admin.create(podKind, {
    metadata: { namespace, name },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
      containers: [{ name, image: "docker.io/local/shop:main", securityContext }],
    },
  });
}

async function suspend(name: string): Promise<EphemeralEnvironment> {
  await change(name, { suspended: true });
  return world.expectState(name, "asleep", sleeps);
}

describe("a suspended environment", () => {
  test("runs nothing, is not asked, keeps all else, and wakes to where it was when its URLs answer", async () => {
    const { made, before, awake } = await given("sleeper", {
      ...backendOnly,
      overrides: { backend: { replicas: 2 } },
    });
    await suspend("sleeper");
    expect(await valuesOf("sleeper")).toEqual({
      ...awake,
      backend: { ...awake?.backend, replicas: 0 },
      suspended: true,
    });
    expect(await kept(made)).toEqual(before);
    silent.add("sleeper");
    requested.length = 0;
    expect(sleeps(await world.reconcile("sleeper"))).toBe(true);
    expect(requested).not.toContain("sleeper");

    await change("sleeper", { suspended: false });
    const waking = await world.expectPhase("sleeper", "updating");
    expect(findCondition(waking.status?.conditions, "Suspended")).toBeUndefined();
    await world.expectState(
      "sleeper",
      "waiting for its URLs",
      ({ status }) => findCondition(status?.conditions, "UrlsReady")?.reason === "NotAnswering",
    );
    silent.clear();
    await world.expectState("sleeper", "awake", isAwake);
    expect(await valuesOf("sleeper")).toEqual(awake);
    expect(awake?.backend.replicas).toBe(2);
    expect(await kept(made)).toEqual(before);
  }, 60_000);

  test("is not awake before its pods are, however soon it is woken", async () => {
    await given("dozer");
    world.argocd.decide("dozer", ({ suspended }) => (suspended ? "ignored" : "healthy"));
    await change("dozer", { suspended: true });
    await world.expectPhase("dozer", "updating");
    silent.add("dozer");
    await change("dozer", { suspended: false });
    await world.expectState(
      "dozer",
      "waiting for its URLs",
      ({ status }) => status?.phase === "updating" && status.observedGeneration === 3,
    );
    silent.clear();
    await world.expectState("dozer", "awake", isAwake);
  }, 60_000);

  test("was suspended before it ever ran, and is created when it wakes", async () => {
    await world.create("early", { ...backendOnly, suspended: true });
    const asleep = await world.expectState("early", "asleep", sleeps);
    expect(asleep.status).not.toHaveProperty("readyAt");
    silent.add("early");
    await change("early", { suspended: false });
    await world.expectPhase("early", "creating");
    silent.clear();
    await world.expectState("early", "awake", isAwake);
  }, 60_000);

  test("had failed, sleeps all the same, and fails again when it wakes", async () => {
    world.argocd.decide("broken", ({ suspended }) => (suspended ? "healthy" : "unsyncable"));
    await world.create("broken");
    await world.expectPhase("broken", "failed");
    await suspend("broken");
    await change("broken", { suspended: false });
    await world.expectPhase("broken", "failed");
  }, 60_000);

  test("takes an update into its values, and wakes with it", async () => {
    await given("updated");
    await suspend("updated");
    await change("updated", { backend: { commit: NEXT } });
    await world.expectState(
      "updated",
      "asleep with the other commit",
      (found) => sleeps(found) && found.status?.components?.backend?.commit === NEXT,
    );
    expect((await valuesOf("updated"))?.backend).toMatchObject({ image: expect.stringContaining(NEXT), replicas: 0 });
    await change("updated", { suspended: false });
    const awake = await world.expectState("updated", "awake", isAwake);
    expect(awake.status?.components?.backend?.commit).toBe(NEXT);
  }, 60_000);

  test("says within a minute what keeps pods, because its chart's values know nothing of suspension", async () => {
    const chart = { repoUrl: "https://git.example.com/charts.git", path: "shop", revision: "main" };
    await world.register("awake-api", { chart: { ...chart, values: "image: ${backend.image}" } });
    await given("insomniac", { backend: { ...backendOnly.backend, repository: "awake-api" } });
    await runPod("env-insomniac", "cache");
    await change("insomniac", { suspended: true });
    const isSaid = ({ status }: EphemeralEnvironment) =>
      findCondition(status?.conditions, "ResourcesHealthy")?.reason === "KeepsRunning";
    const said = await world.expectState("insomniac", "saying what goes on", isSaid);
    expect(findCondition(said.status?.conditions, "ResourcesHealthy")?.message).toMatch(
      /^Pod\/cache goes on while the environment is suspended: .*[$][{]replicas.orZero[(]1[)][}]/,
    );
    expect(findCondition(said.status?.conditions, "Suspended")?.message).toContain("names workloads that go on");
    await world.admin.delete(podKind, { namespace: "env-insomniac", name: "cache" });
    const asleep = await world.reconcile("insomniac");
    expect(findCondition(asleep.status?.conditions, "ResourcesHealthy")).toBeUndefined();
    expect(findCondition(asleep.status?.conditions, "Suspended")?.message).toContain("scaled to zero");
  }, 90_000);

  test("goes when its time is up", async () => {
    const { made } = await given("mortal", { ...backendOnly, ttlHours: 1 });
    await suspend("mortal");
    await running.stop();
    const ahead = await world.startOperator({ clock: clockAhead(2), serverClock: serverClockAhead(2) });
    await world.expectGone(made);
    await ahead.stop();
    running = await world.startOperator({ prober });
  }, 120_000);
});

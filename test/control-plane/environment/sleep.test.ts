import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../config/settings.ts";
import { findCondition } from "../../../crds/conditions.ts";
import { HOUR_MS, MINUTE_MS } from "../../../crds/durations.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { REQUESTED_ANNOTATION, WAKE_ANNOTATION } from "../../../crds/group.ts";
import type { SleepWish } from "../../../crds/sleep.schema.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { ObservedRequests } from "../../../operator/controllers/activity/observed-requests.ts";
import { KubeError } from "../../../operator/kit/client/errors.ts";
import { eventKind, roleBindingKind } from "../../../operator/kit/client/kinds.ts";
import type { Pods } from "../../../operator/ports/pods.ts";
import type { UrlProber } from "../../../operator/ports/url-prober.ts";
import { correctedClock } from "../../support/faults/skewed-clock.ts";
import { applicationValues } from "../../support/fixtures/application-values.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { backendOnly, createWorld, type World } from "../../support/worlds/environment-world.ts";

const clock = correctedClock();
const observedRequests = new ObservedRequests({ clock, hasSource: true });
/** True: an environment that wakes does not answer yet. */
let areSilent = false;
const prober: UrlProber = {
  probe: async () => ({ status: areSilent ? "unreachable" : "healthy", responseTimeMs: 1, message: "as it is" }),
};
let world: World;

const bindingOf = (name: string) => ({ name: "ephemeral-environment", namespace: `env-${name}` });

/** The operator sees pods by the binding in their namespace, at once: an API server would still know a deleted one. */
const byBinding = (pods: Pods): Pods => ({
  ...pods,
  async running(environment) {
    const binding = await world.admin.find(roleBindingKind, bindingOf(environment.name));
    if (binding === undefined) throw new KubeError({ status: 403, reason: "Forbidden" });
    return pods.running(environment);
  },
});

beforeAll(async () => {
  world = await createWorld();
  const settings = settingsFrom({ ...testSettings, reconcile: { wakesAtOnce: 1 } });
  await world.startOperator({
    clock,
    settings,
    onPorts: (ports) => ({ ...ports, observedRequests, prober, pods: byBinding(ports.pods) }),
  });
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
const isAwakeWithoutWish = ({ status }: EphemeralEnvironment) =>
  status?.phase === "ready" && status.sleep === undefined && findCondition(status.conditions, "Asleep") === undefined;
const isAwake = (found: EphemeralEnvironment) => found.status?.phase === "ready" && sleepOf(found)?.state === "awake";

/** The time passes at once, so no timer of before tells the operator. */
async function pass(name: string, ms: number): Promise<void> {
  clock.correct(ms);
  await world.reconcile(name);
}

async function removeWishes(names: readonly string[]): Promise<void> {
  const removeWish = (name: string) =>
    world.admin.patch(environmentType, { name }, { spec: { sleep: null } }, { as: "merge" });
  await Promise.all(names.map(removeWish));
}

async function wake(name: string): Promise<void> {
  const metadata = { annotations: { [WAKE_ANNOTATION]: "now" } };
  await world.admin.patch(environmentType, { name }, { metadata }, { as: "merge" });
}

/** Writes what the gate writes for a request. */
async function request(name: string, at: Date): Promise<void> {
  const metadata = { annotations: { [REQUESTED_ANNOTATION]: at.toISOString() } };
  await world.admin.patch(environmentType, { name }, { metadata }, { as: "merge" });
}

const databaseReason = ({ status }: EphemeralEnvironment) => findCondition(status?.conditions, "DatabaseReady")?.reason;
const isWaking = (found: EphemeralEnvironment) => sleepOf(found)?.state === "waking";

async function notes(name: string): Promise<readonly unknown[]> {
  const { items } = await world.admin.list(eventKind);
  return items.flatMap(({ metadata, note }) => (metadata.name.startsWith(`${name}.`) ? [note] : []));
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

  test("gets its binding back and then sleeps, although what runs is hidden without it", async () => {
    await world.create("unbound", { ...backendOnly, ttlHours: 168, sleep: hoursAroundNow() });
    await world.expectState("unbound", "awake", isAwake);
    clock.correct(HOUR_MS + MINUTE_MS);
    await world.admin.delete(roleBindingKind, bindingOf("unbound"));
    await world.expectState("unbound", "asleep", isAsleep);
    expect(await world.admin.find(roleBindingKind, bindingOf("unbound"))).toBeDefined();
  }, 90_000);

  test("stays awake while its database is copied, and sleeps afterwards", async () => {
    const shared = { ...backendOnly, ttlHours: 168, access: { groups: ["team"] } };
    await world.create("lent", { ...shared, database: { provision: true }, sleep: hoursAroundNow() });
    await world.expectState("lent", "awake", isAwake);
    world.argocd.decide("borrower", () => "hooked");
    await world.create("borrower", { ...shared, database: { provision: true, from: { environment: "lent" } } });
    await world.expectState("borrower", "copying", (found) => databaseReason(found) === "Copying");

    await pass("lent", HOUR_MS + MINUTE_MS);
    const { status } = await world.expectState("lent", "reconciled", isAwake);
    expect(status?.sleep?.nextAt).toBeUndefined();

    world.argocd.decide("borrower", () => "healthy");
    await world.expectState("borrower", "made", (found) => found.status?.database?.from !== undefined);
    await world.reconcile("lent");
    await world.expectState("lent", "asleep", isAsleep);
  }, 90_000);

  test("wakes by a request later than its sleep, and sleeps again an hour later", async () => {
    await world.create("requested", { ...backendOnly, ttlHours: 168, sleep: hoursAroundNow() });
    const made = await world.expectState("requested", "awake", isAwake);
    await pass("requested", HOUR_MS + MINUTE_MS);
    const asleep = await world.expectState("requested", "asleep", isAsleep);
    await request("requested", new Date(sleepOf(asleep)?.since ?? ""));
    expect(sleepOf(await world.reconcile("requested"))).toEqual(sleepOf(asleep));

    areSilent = true;
    const requestedAt = clock.now();
    await request("requested", requestedAt);
    const waking = await world.expectState("requested", "waking", isWaking);
    areSilent = false;
    const { since = "", keptAwakeUntil = "" } = sleepOf(waking) ?? {};
    expect(sleepOf(waking)).toMatchObject({ cause: "request" });
    expect(Date.parse(since)).toBeGreaterThanOrEqual(requestedAt.getTime());
    expect(Date.parse(keptAwakeUntil) - Date.parse(since)).toBe(HOUR_MS);
    const awake = await world.expectState("requested", "awake", isAwake);
    expect(sleepOf(awake)).toMatchObject({ cause: "request", keptAwakeUntil, nextAt: keptAwakeUntil });
    expect(awake.spec).toEqual(made.spec);
    expect(findCondition(awake.status?.conditions, "Asleep")).toBeUndefined();
    const note = "awake: all URLs answer again; a request woke it";
    await until(async () => (await notes("requested")).includes(note), { what: "its Event", deadlineMs: 20_000 });

    await pass("requested", HOUR_MS);
    const again = await world.expectState("requested", "asleep again", isAsleep);
    expect(sleepOf(again)).toMatchObject({ cause: "schedule" });
    expect(sleepOf(await world.reconcile("requested"))).toEqual(sleepOf(again));
    await request("requested", new Date(Date.parse(sleepOf(again)?.since ?? "") + 1));
    await world.expectState("requested", "awake once more", isAwake);
  }, 90_000);

  test("wakes by a request of a clock that is ahead as soon as it counts", async () => {
    await world.create("ahead", { ...backendOnly, ttlHours: 168, sleep: hoursAroundNow() });
    await world.expectState("ahead", "awake", isAwake);
    await pass("ahead", HOUR_MS + MINUTE_MS);
    await world.expectState("ahead", "asleep", isAsleep);
    await request("ahead", new Date(clock.now().getTime() + MINUTE_MS + 2_000));
    const awake = await world.expectState("ahead", "awake", isAwake);
    expect(sleepOf(awake)).toMatchObject({ cause: "request" });
  }, 90_000);

  test.each([
    { name: "turn", moment: "its hours begin", change: () => clock.correct(22 * HOUR_MS), isDone: isAwake },
    { name: "free", moment: "nothing lets it sleep any more", change: removeWishes, isDone: isAwakeWithoutWish },
  ])(
    "waits for its turn to wake when $moment while as many wake as may, and stays asleep until then",
    async (row) => {
      const names = [1, 2, 3].map((number) => `${row.name}-${number}`);
      const each = <R>(of: (name: string) => Promise<R>) => Promise.all(names.map(of));
      const sleep = hoursAroundNow();
      await each((name) => world.create(name, { ...backendOnly, ttlHours: 168, sleep }));
      await each((name) => world.expectState(name, "awake", isAwake));
      clock.correct(HOUR_MS + MINUTE_MS);
      await each(world.reconcile);
      await each((name) => world.expectState(name, "asleep", isAsleep));

      areSilent = true;
      await row.change(names);
      await each(world.reconcile);
      const all = async () => (await each(world.find)).flatMap((found) => found ?? []);
      const waking = async () => (await all()).filter(isWaking).map(({ metadata }) => metadata.name);
      await until(async () => (await waking()).length > 0, { what: "the first that wakes", deadlineMs: 20_000 });
      await each(world.reconcile);
      expect(await waking()).toHaveLength(1);
      const waiting = (await all()).filter((found) => !isWaking(found));
      const asleep = expect.objectContaining({ state: "asleep", cause: "schedule" });
      expect(waiting.map(sleepOf)).toEqual([asleep, asleep]);
      areSilent = false;
      await each((name) => world.expectState(name, "awake", row.isDone));
    },
    90_000,
  );

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

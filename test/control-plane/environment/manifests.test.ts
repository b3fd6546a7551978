import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { findCondition } from "../../../crds/conditions.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { expiresAt } from "../../../crds/environment/lifetime.ts";
import { RENEW_ANNOTATION } from "../../../crds/group.ts";
import { environmentType, recordType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import { namespaceKind } from "../../../operator/kit/client/kinds.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import { concernedAmong, recordWrites } from "../../support/faults/request-interceptors.ts";
import { clockAhead, serverClockAhead } from "../../support/faults/skewed-clock.ts";
import { kubeConfigOf } from "../../support/fixtures/kube-config.ts";
import { rewriteObject } from "../../support/plane/etcd.ts";
import { backendOnly, createWorld, type RunningOperator, type World } from "../../support/worlds/environment-world.ts";

let world: World;
let argocd: KubeClient;
let running: RunningOperator | undefined;
let number = 0;
let name: string;

beforeAll(async () => {
  world = await createWorld();
  const kubeConfig = kubeConfigOf(world.plane, world.plane.adminToken);
  argocd = createKubeClient({ kubeConfig, userAgent: "argocd-controller" });
}, 180_000);
afterAll(async () => {
  await argocd.close();
  await world.stop();
}, 60_000);
beforeEach(() => {
  name = `from-git-${++number}`;
});
afterEach(() => running?.stop());

const hour: EnvironmentSpec = { ...backendOnly, ttlHours: 1 };
const other: EnvironmentSpec = { ...hour, backend: { ...hour.backend, branch: "other" } };

function sync(spec: EnvironmentSpec = hour, annotations: object = {}): Promise<EphemeralEnvironment> {
  const tracking = `apps:ephemeral-environments.dev/EphemeralEnvironment:/${name}`;
  const metadata = { name, annotations: { "argocd.argoproj.io/tracking-id": tracking, ...annotations } };
  return argocd.create(environmentType, { metadata, spec });
}

const resync = (changed: object) => argocd.patch(environmentType, { name }, changed, { as: "merge" });

async function start(options: Parameters<World["startOperator"]>[0] = {}): Promise<RunningOperator> {
  await running?.stop();
  running = await world.startOperator(options);
  return running;
}

const records = async () => {
  const { items } = await world.admin.list(recordType, {
    labelSelector: `ephemeral-environments.dev/environment=${name}`,
  });
  return items;
};
const isThere = async () => (await world.admin.find(namespaceKind, { name: `env-${name}` })) !== undefined;
const readyOf = ({ status }: EphemeralEnvironment) => findCondition(status?.conditions, "Ready");
const reported = expect.stringMatching(/came back from Git unchanged.*annotation ephemeral-environments\.dev\/renew/);

/** Makes the environment some hours older: deletions do not use the operator's clock alone. */
function age(hours: number): Promise<void> {
  return rewriteObject(world.plane.etcdSocket, `ephemeral-environments.dev/ephemeralenvironments/${name}`, (object) => {
    const created = Date.parse(object.metadata.creationTimestamp) - hours * 3_600_000;
    object.metadata.creationTimestamp = `${new Date(created).toISOString().slice(0, 19)}Z`;
  });
}

/** An environment from Git that was built, and ended by its expiry. */
async function expired(spec = hour): Promise<EphemeralEnvironment> {
  await start();
  await sync(spec);
  const made = await world.expectPhase(name, "ready");
  await running?.stop();
  await age(2);
  await start();
  await world.expectGone(made);
  return made;
}

/** The same manifest again, which is not built. */
async function refused(spec = hour): Promise<EphemeralEnvironment> {
  await expired(spec);
  await sync(spec);
  return world.expectPhase(name, "failed");
}

describe("a manifest that comes back from Git after its environment has expired", () => {
  test("is not built: it stands failed and says what to do, at the cost of one write", async () => {
    const made = await expired();
    expect(await records()).toEqual([
      expect.objectContaining({
        spec: expect.objectContaining({ reason: "expired", cause: "expired", manifest: expect.anything() }),
      }),
    ]);
    const recording = recordWrites(concernedAmong([name]));
    await start({ onRequest: recording.interceptor });
    await sync();
    const back = await world.expectPhase(name, "failed");
    expect(back.metadata.uid).not.toBe(made.metadata.uid);
    expect(readyOf(back)).toMatchObject({ status: "False", reason: "Expired", message: reported });
    expect(back.metadata.finalizers).toBeUndefined();
    await world.reconcile(name);
    expect(await isThere()).toBe(false);
    // The second one answers this test's reconcile.
    expect(recording.writes(name)).toEqual([
      "patch EphemeralEnvironment/status NAME #1",
      "patch EphemeralEnvironment/status NAME #2",
    ]);
  }, 180_000);

  test("stays so without the record, when its time is up, and leaves no second record when it is removed", async () => {
    const back = await refused();
    const [record] = await records();
    if (record === undefined) throw new Error("the expired environment has no record");
    await world.admin.delete(recordType, { name: record.metadata.name, namespace: "ephemeral-system" });
    await start({ clock: clockAhead(200), serverClock: serverClockAhead(200) });
    const later = await world.reconcile(name);
    expect(later.status?.manifest).toEqual(back.status?.manifest);
    expect(readyOf(later)).toMatchObject({ reason: "Expired" });
    expect(later.metadata.deletionTimestamp).toBeUndefined();
    await world.delete(later);
    await world.expectGone(later);
    expect(await records()).toEqual([]);
  }, 180_000);

  test("is built in place for another value of the annotation, and lives its whole time from then on", async () => {
    const back = await refused();
    const ahead = { clock: clockAhead(20), serverClock: serverClockAhead(20) };
    await start(ahead);
    await resync({ metadata: { annotations: { [RENEW_ANNOTATION]: "1" } } });
    const ready = await world.expectPhase(name, "ready");
    expect(ready.metadata.uid).toBe(back.metadata.uid);
    expect(ready.status?.manifest).toMatchObject({ renew: "1", builtFrom: expect.any(String) });
    expect(expiresAt(ready).getTime()).toBeGreaterThan(Date.now() + 20.5 * 3_600_000);
    await start({ clock: clockAhead(22), serverClock: serverClockAhead(22) });
    await world.expectGone(ready);
    expect(await records()).toHaveLength(2);
  }, 180_000);

  test("is built in place when its spec changes in Git", async () => {
    const back = await refused();
    await resync({ spec: other });
    const ready = await world.expectPhase(name, "ready");
    expect(ready.metadata.uid).toBe(back.metadata.uid);
  }, 180_000);

  test("is built when it comes back with another spec or another value of the annotation", async () => {
    const made = await expired();
    await sync({ ...hour, ttlHours: 2 }, { [RENEW_ANNOTATION]: "1" });
    const anew = await world.expectPhase(name, "ready");
    expect(anew.metadata.uid).not.toBe(made.metadata.uid);
    expect(anew.status?.manifest?.builtFrom).toBeUndefined();
  }, 180_000);

  test("is known by what Git had last, not by what was extended beside it", async () => {
    await start();
    await sync();
    const made = await world.expectPhase(name, "ready");
    // Argo CD with another commit; then a user extends it, and Argo CD leaves that alone.
    await resync({ spec: other });
    await world.expectState(
      name,
      "observed",
      ({ status, metadata }) => status?.observedGeneration === metadata.generation,
    );
    await world.admin.patch(environmentType, { name }, { spec: { ttlHours: 3 } }, { as: "merge" });
    await world.expectState(name, "extended", ({ status }) => status?.ttlHours === 3);
    await running?.stop();
    await age(4);
    await start();
    await world.expectGone(made);
    await sync(other);
    const back = await world.expectPhase(name, "failed");
    expect(readyOf(back)).toMatchObject({ reason: "Expired" });
  }, 180_000);
});

describe("an environment from Git that is deleted", () => {
  test("through the REST interface is not built again; pruned it is", async () => {
    const { operator } = await start();
    await sync();
    const made = await world.expectPhase(name, "ready");
    await operator.ports.environments.remove(made, { cause: "deletedByUser" });
    await world.expectGone(made);
    await sync();
    const back = await world.expectPhase(name, "failed");
    expect(readyOf(back)).toMatchObject({ reason: "Expired", message: expect.stringContaining("deleted by a user") });
    await world.delete(back);
    await world.expectGone(back);

    const renewed = { [RENEW_ANNOTATION]: "1" };
    await sync(hour, renewed);
    const anew = await world.expectPhase(name, "ready");
    await world.delete(anew);
    await world.expectGone(anew);
    expect((await records()).map(({ spec }) => spec.cause).sort()).toEqual(["deletedByUser", "pruned"]);
    await sync(hour, renewed);
    await world.expectPhase(name, "ready");
  }, 180_000);

  test("by a clean-up of failed environments is built again", async () => {
    const { operator } = await start();
    await sync();
    const made = await world.expectPhase(name, "ready");
    const outcome = await operator.ports.environments.remove(made, { onlyThisVersion: true, cause: "cleanup" });
    expect(outcome).toBe("removing");
    await world.expectGone(made);
    await sync();
    await world.expectPhase(name, "ready");
    expect((await records()).map(({ spec }) => spec.cause)).toEqual(["cleanup"]);
  }, 180_000);

  test("leaves no cause in the record where nothing brings it back", async () => {
    const { operator } = await start();
    await world.create(name, hour);
    const made = await world.expectPhase(name, "ready");
    await operator.ports.environments.remove(made, { cause: "deletedByUser" });
    await world.expectGone(made);
    const [record] = await records();
    expect(record?.spec).toMatchObject({ reason: "deleted" });
    expect(record?.spec).not.toHaveProperty("cause");
    expect(record?.spec).not.toHaveProperty("manifest");
  }, 180_000);
});

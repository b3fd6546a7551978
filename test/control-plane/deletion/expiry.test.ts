import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { environmentType, recordType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { KubeError } from "../../../operator/kit/client/errors.ts";
import { limitRangeKind, namespaceKind } from "../../../operator/kit/client/kinds.ts";
import type { RequestInterceptor } from "../../../operator/kit/client/request.ts";
import { concernedAmong, recordWrites } from "../../support/faults/request-interceptors.ts";
import { clockAhead, serverClockAhead } from "../../support/faults/skewed-clock.ts";
import { configMaps } from "../../support/fixtures/config-maps.ts";
import { until } from "../../support/fixtures/until.ts";
import { backendOnly, createWorld, type RunningOperator, type World } from "../../support/worlds/environment-world.ts";

let world: World;
let running: RunningOperator | undefined;
let number = 0;
let name: string;

beforeAll(async () => {
  world = await createWorld();
}, 180_000);
afterAll(() => world.stop(), 60_000);
beforeEach(() => {
  name = `expiry-${++number}`;
});
// An operator with an advanced clock would end the next test's environments, too.
afterEach(() => running?.stop());

const hour = { ...backendOnly, ttlHours: 1 };

async function given(spec: EphemeralEnvironment["spec"]): Promise<EphemeralEnvironment> {
  const honest = await world.startOperator();
  await world.create(name, spec);
  const ready = await world.expectPhase(name, "ready");
  await honest.stop();
  return ready;
}

async function operatorAhead(hours: { own: number; server: number }, onRequest?: RequestInterceptor): Promise<void> {
  running = await world.startOperator({
    clock: clockAhead(hours.own),
    serverClock: serverClockAhead(hours.server),
    ...(onRequest ? { onRequest } : {}),
  });
}

const change = (spec: object) => world.admin.patch(environmentType, { name }, { spec }, { as: "merge" });
const isLeaving = ({ metadata }: EphemeralEnvironment) => metadata.deletionTimestamp !== undefined;

describe("an environment whose time is up", () => {
  test("goes with all that belongs to it when both clocks say so", async () => {
    const made = await given(hour);
    expect(made.status?.expiresAt).toBe(
      new Date(Date.parse(made.metadata.creationTimestamp) + 3_600_000).toISOString(),
    );
    await operatorAhead({ own: 2, server: 2 });
    await world.expectGone(made);
  }, 120_000);

  test("costs nine writes, also when its namespace goes slowly and says so in ever other words", async () => {
    const made = await given(hour);
    const held = { name: "held", namespace: `env-${name}`, finalizers: ["example.test/hold"] };
    await world.admin.create(configMaps, { metadata: held });
    const { interceptor, writes } = recordWrites(concernedAmong([name]));
    await operatorAhead({ own: 2, server: 2 }, interceptor);
    const conditions = async () => {
      const found = await world.admin.find(namespaceKind, { name: held.namespace });
      return (found?.status as { conditions?: { type: string; status: string }[] } | undefined)?.conditions ?? [];
    };
    const isHeld = async () =>
      (await conditions()).some((one) => one.type === "NamespaceFinalizersRemaining" && one.status === "True");
    await until(isHeld, { what: "the namespace saying what is left", deadlineMs: 30_000 });
    await world.reconcile(name);
    await world.admin.patch(configMaps, held, { metadata: { finalizers: [] } }, { as: "merge" });
    await world.expectGone(made);
    // One of them answers this test's reconcile.
    expect(writes(name).length).toBeLessThanOrEqual(9 + 1);
    expect(writes(name)).toContain("delete EphemeralEnvironment NAME #1");
  }, 120_000);

  test("stays when only the operator's clock says so", async () => {
    await given(hour);
    await operatorAhead({ own: 2, server: 0 });
    expect(isLeaving(await world.reconcile(name))).toBe(false);
  }, 60_000);

  test("stays when only the API server's clock says so", async () => {
    await given(hour);
    await operatorAhead({ own: 0, server: 2 });
    expect(isLeaving(await world.reconcile(name))).toBe(false);
  }, 60_000);

  test("stays when it is extended between the decision and the delete", async () => {
    await given(hour);
    let deletes = 0;
    const extendFirst: RequestInterceptor = async (request, next) => {
      if (request.verb === "delete" && request.name === name) {
        if (deletes === 0) await change({ ttlHours: 100 });
        deletes += 1;
      }
      return next();
    };
    await operatorAhead({ own: 2, server: 2 }, extendFirst);
    const extended = await world.expectState(name, "having its new expiry", ({ status }) => status?.ttlHours === 100);
    expect(isLeaving(extended)).toBe(false);
    expect(isLeaving(await world.reconcile(name))).toBe(false);
    expect(deletes).toBe(1);
  }, 60_000);

  test("abuse case 115: says so while a foreign policy refuses its deletion, is kept as it should be, and goes after that", async () => {
    const made = await given(hour);
    let refuses = true;
    const policy: RequestInterceptor = async (request, next) => {
      const isRefused = refuses && request.verb === "delete" && request.name === name;
      if (isRefused) throw new KubeError({ status: 422, reason: "Invalid", detail: "keep-all denied request" });
      return next();
    };
    await operatorAhead({ own: 2, server: 2 }, policy);
    const reported = await world.expectState(
      name,
      "saying what refuses it",
      ({ status }) => !!status?.conditions?.some(({ type }) => type === "ExpiryRefused"),
    );
    expect(reported.status?.conditions?.find(({ type }) => type === "ExpiryRefused")?.message).toContain("keep-all");
    const limits = { name: "environment", namespace: `env-${name}` };
    await world.admin.delete(limitRangeKind, limits);
    await until(() => world.admin.find(limitRangeKind, limits), { what: "its limits being restored" });
    expect((await world.reconcile(name)).status?.phase).toBe("ready");
    refuses = false;
    await world.expectGone(made);
  }, 120_000);

  test("stays as long as it is protected, and goes a quarter of an hour after it no longer is", async () => {
    const made = await given({ ...hour, protected: true });
    await operatorAhead({ own: 200, server: 200 });
    expect(isLeaving(await world.reconcile(name))).toBe(false);
    const earliest = Date.now() + 200 * 3_600_000 + 15 * 60_000;
    await change({ protected: false });
    const lifted = await world.expectState(name, "having a grace period", ({ status }) => !!status?.expiryNotBefore);
    expect(Date.parse(lifted.status?.expiryNotBefore ?? "")).toBeGreaterThanOrEqual(earliest);
    const later = await world.reconcile(name);
    expect(later.status?.expiryNotBefore).toBe(lifted.status?.expiryNotBefore);
    expect(isLeaving(later)).toBe(false);

    await running?.stop();
    await operatorAhead({ own: 201, server: 201 });
    await world.expectGone(made);
  }, 120_000);

  test("goes when a protection with an end is over, without a further grace period", async () => {
    const { metadata } = await given(hour);
    const protectedUntil = new Date(Date.parse(metadata.creationTimestamp) + 5 * 3_600_000).toISOString();
    await operatorAhead({ own: 0, server: 0 });
    await change({ protectedUntil });
    const shielded = await world.expectState(
      name,
      "showing the end of its protection",
      ({ status }) => status?.protectedUntil === protectedUntil,
    );
    await running?.stop();
    await operatorAhead({ own: 4, server: 4 });
    expect(isLeaving(await world.reconcile(name))).toBe(false);

    await running?.stop();
    // The operator's own delete is refused like any other: the chart's policy has no time.
    await expect(world.admin.delete(environmentType, { name })).rejects.toMatchObject({ status: 403 });
    await operatorAhead({ own: 6, server: 6 });
    await world.expectGone(shielded);
    const [record] = (await world.admin.list(recordType)).items.filter(({ spec }) => spec.uid === metadata.uid);
    // The API server's own time is long before that, so this is no expiry by its deletion timestamp.
    expect(record?.spec).toMatchObject({ dueAt: protectedUntil });
  }, 120_000);

  test("stays when it is protected without end after the end of its protection, and has a grace period after that", async () => {
    const { metadata } = await given(hour);
    const past = new Date(Date.parse(metadata.creationTimestamp)).toISOString();
    await operatorAhead({ own: 0, server: 0 });
    await change({ protected: true, protectedUntil: past });
    await world.expectState(name, "showing its protection", ({ status }) => status?.protected === true);
    await running?.stop();
    await operatorAhead({ own: 200, server: 200 });
    expect(isLeaving(await world.reconcile(name))).toBe(false);
    await change({ protected: false });
    const removed = await world.expectState(name, "having a grace period", ({ status }) => !!status?.expiryNotBefore);
    expect(isLeaving(removed)).toBe(false);
    await running?.stop();
    await operatorAhead({ own: 201, server: 201 });
    await world.expectGone(removed);
  }, 120_000);

  test("stays when it is protected between the decision and the delete", async () => {
    await given(hour);
    let isProtected = false;
    const protectFirst: RequestInterceptor = async (request, next) => {
      if (request.verb === "delete" && request.name === name && !isProtected) {
        isProtected = true;
        await change({ protected: true });
      }
      return next();
    };
    await operatorAhead({ own: 2, server: 2 }, protectFirst);
    const spared = await world.expectState(name, "having seen it", ({ status }) => status?.protected === true);
    expect(isProtected).toBe(true);
    expect(isLeaving(spared)).toBe(false);
  }, 60_000);
});

describe("a TTL that was lowered into the past", () => {
  test("grants fifteen minutes, once, and says the contract's expiry all the while", async () => {
    const made = await given({ ...backendOnly, ttlHours: 24 });
    await operatorAhead({ own: 2, server: 2 });
    const earliest = Date.now() + 2 * 3_600_000 + 15 * 60_000;
    await change({ ttlHours: 1 });
    const lowered = await world.expectState(name, "having a grace period", ({ status }) => !!status?.expiryNotBefore);
    const granted = Date.parse(lowered.status?.expiryNotBefore ?? "");
    expect(granted).toBeGreaterThanOrEqual(earliest);
    expect(granted).toBeLessThan(earliest + 30_000);
    expect(lowered.status?.expiresAt).toBe(
      new Date(Date.parse(made.metadata.creationTimestamp) + 3_600_000).toISOString(),
    );
    const later = await world.reconcile(name);
    expect(later.status?.expiryNotBefore).toBe(lowered.status?.expiryNotBefore);
    expect(isLeaving(later)).toBe(false);

    await running?.stop();
    await operatorAhead({ own: 3, server: 3 });
    await world.expectGone(made);
  }, 120_000);
});

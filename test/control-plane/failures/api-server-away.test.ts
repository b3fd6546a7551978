import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { until } from "../../support/fixtures/until.ts";
import type { PlatformProcess } from "../../support/plane/platform-process.ts";
import { creation, type ReplicaPair, startReplicaPair } from "../../support/worlds/replica-pair.ts";

let pair: ReplicaPair;
beforeAll(async () => {
  pair = await startReplicaPair();
}, 120_000);
beforeEach(() => pair.untilReady(), 90_000);
afterAll(() => pair.stop(), 60_000);

const losses = ({ output }: PlatformProcess) => output.split('"message":"leadership was lost"').length - 1;

/**
 * Waits for the end of former leaders, which is safe because the next process finds everything, and restarts them as a
 * kubelet does.
 */
async function healed(lossesBefore: readonly number[]): Promise<void> {
  for (const [index, one] of pair.replicas.entries()) {
    if (losses(one) === lossesBefore[index]) continue;
    expect(await one.ended()).toBe(1);
    await one.start();
  }
  await pair.untilReady();
}

describe("while the API server is away", () => {
  test("every replica answers reads, refuses writes for now, and all heals alone", async () => {
    const two = pair.replicas;
    const id = await pair.haveReady("kept");
    const before = await Promise.all(two.map((one) => pair.call(one, "/environments/kept")));

    const lossesBefore = two.map(losses);
    await pair.world.plane.kill("kube-apiserver");
    const awayMs = performance.now();
    const hasLost = () => two.some((one, index) => losses(one) > (lossesBefore[index] ?? 0));
    const isNotReady = async (one: PlatformProcess) => (await pair.call(one, "/ready")).status === 503;
    for (const one of two) await until(() => isNotReady(one), { what: "not being ready", deadlineMs: 10_000 });
    // Longer than the lease: the leader has to give it up, and continues to answer.
    await until(hasLost, { what: "the leader without its lease", deadlineMs: 30_000 });
    const lostSeconds = (performance.now() - awayMs) / 1000;
    const age = async (one: PlatformProcess) => (await pair.call(one, "/status")).body.services?.cache.age_seconds ?? 0;
    const isLater = async () => (await age(two[0])) > lostSeconds + 5 && (await age(two[1])) > lostSeconds + 5;
    await until(isLater, { what: "both serving long after that", deadlineMs: 20_000, everyMs: 500 });
    for (const [index, one] of two.entries()) {
      expect((await pair.call(one, "/environments/kept")).body).toEqual(before[index]?.body);
      expect((await pair.call(one, `/environments/${id}`)).body).toEqual(before[index]?.body);
      expect((await pair.call(one, "/environments?search=kept")).body).toMatchObject({ total: 1 });
      await expectRefusedWrites(one);
      const { body } = await pair.call(one, "/ready");
      expect(body).toMatchObject({ status: "not ready", checks: { datastore: "unhealthy", deployer: "unhealthy" } });
      const { body: status } = await pair.call(one, "/status");
      expect(status).toMatchObject({ status: "unhealthy", services: { datastore: { healthy: false } } });
    }
    await pair.world.plane.restart("kube-apiserver");
    await healed(lossesBefore);
    for (const [index, one] of two.entries()) {
      expect((await pair.call(one, "/environments", { body: creation(`healed-${index}`) })).status).toBe(200);
      expect((await pair.call(one, "/environments/kept")).body).toEqual(before[index]?.body);
    }
    await Promise.all(["healed-0", "healed-1"].map((name) => pair.world.expectPhase(name, "ready")));
  }, 180_000);

  test("its database being away is as bad", async () => {
    await pair.haveReady("stored");
    const [one] = pair.replicas;
    const before = pair.replicas.map(losses);
    await pair.world.plane.kill("etcd");
    const datastore = async () => (await pair.call(one, "/ready")).body.checks?.datastore;
    await until(async () => (await datastore()) === "unhealthy", { what: "not being ready", deadlineMs: 10_000 });
    expect((await pair.call(one, "/environments/stored")).body).toMatchObject({ status: "ready" });
    const refused = await pair.call(one, "/environments", { body: creation("in-vain") });
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    await pair.world.plane.restart("etcd");
    await healed(before);
  }, 120_000);

  async function expectRefusedWrites(replica: PlatformProcess): Promise<void> {
    const begunMs = performance.now();
    const path = "/environments/kept";
    const writes = [
      ["/environments", { body: creation("in-vain") }],
      [path, { method: "PUT", body: { ttl_hours: 48 } }],
      [path, { method: "DELETE" }],
      [`${path}/reconcile-status`, { method: "POST" }],
    ] as const;
    for (const [target, sent] of writes) {
      const reply = await pair.call(replica, target, sent);
      expect({ target, status: reply.status, detail: reply.body.detail }).toEqual({
        target,
        status: 503,
        detail: expect.stringContaining("The Kubernetes API can't be reached"),
      });
      expect(Number(reply.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    // Unanswered requests fail at once, not at the client's deadline of 20 s.
    expect(performance.now() - begunMs).toBeLessThan(15_000);
  }
});

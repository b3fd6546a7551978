import { describe, expect, jest, test } from "@jest/globals";
import { LeaderElector } from "../../../../../operator/kit/leader/leader-election.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";
import { until } from "../../../../support/fixtures/until.ts";
import { leaseCandidates, ref } from "./lease-candidates.ts";

// Longer than the deadlines of inner waits.
jest.setTimeout(30_000);

const world = leaseCandidates();
const { candidate, pass } = world;

describe("a clean stop", () => {
  test("releases the lease, so that the next can begin", async () => {
    const first = candidate("first");
    await until(() => first.isWorking());
    first.stop();
    expect(await first.ended).toBe("released");
    expect(first.termEnd()).toBe("stopping");
    expect(world.store.lease?.spec).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
    const second = candidate("second");
    await until(() => second.isWorking());
    expect(world.clock.monotonicMs()).toBe(0);
  });

  test("keeps the lease while work drains", async () => {
    const elector = new LeaderElector({
      client: world.client,
      lease: ref,
      identity: "first",
      log: silentLog,
      clock: world.clock,
      random: () => 0,
    });
    const stopping = new AbortController();
    const drained = Promise.withResolvers<void>();
    const ended = elector.run({ onStartedLeading: () => drained.promise }, stopping.signal);
    await until(() => elector.isLeader());
    stopping.abort();
    await pass(20_000);
    expect([elector.isLeader(), world.store.lease?.spec?.holderIdentity]).toEqual([true, "first"]);
    drained.resolve();
    expect(await ended).toBe("released");
  });

  test("releases the lease although a renewal that was cut off is stored at the same moment", async () => {
    const first = candidate("first");
    await until(() => first.isWorking());
    world.store.conflicts = 1;
    first.stop();
    expect(await first.ended).toBe("released");
    expect(world.store.lease?.spec?.holderIdentity).toBe("");
  });

  test("releases a lease whose first write was cut off, and stored", async () => {
    const written = Promise.withResolvers<void>();
    world.store.onWrite = () => {
      written.resolve();
      world.store.onWrite = async () => undefined;
      return new Promise(() => undefined);
    };
    const first = candidate("first");
    await written.promise;
    expect(world.store.lease?.spec?.holderIdentity).toBe("first");
    first.stop();
    expect(await first.ended).toBe("never-led");
    expect(world.store.lease?.spec?.holderIdentity).toBe("");
  });

  test("of a candidate that never led writes nothing", async () => {
    world.store.put({ holderIdentity: "other", leaseDurationSeconds: 15 });
    const follower = candidate("follower");
    await until(() => world.clock.pending.includes(500));
    follower.stop();
    expect([await follower.ended, world.store.writes]).toEqual(["never-led", 0]);
  });
});

test("work that fails releases the lease and is reported", async () => {
  const elector = new LeaderElector({
    client: world.client,
    lease: ref,
    identity: "first",
    log: silentLog,
    clock: world.clock,
    random: () => 0,
  });
  const fault = new Error("a bug");
  await expect(
    elector.run({ onStartedLeading: () => Promise.reject(fault) }, new AbortController().signal),
  ).rejects.toBe(fault);
  expect(world.store.lease?.spec?.holderIdentity).toBe("");
});

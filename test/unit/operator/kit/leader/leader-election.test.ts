import { expect, jest, test } from "@jest/globals";
import { LeaderElector, microTime } from "../../../../../operator/kit/leader/leader-election.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";
import { until } from "../../../../support/fixtures/until.ts";
import { type Candidate, leaseCandidates, ref } from "./lease-candidates.ts";

// Longer than the deadlines of inner waits.
jest.setTimeout(30_000);

const world = leaseCandidates();
const { candidate, pass } = world;

const leadershipOf = (...all: readonly Candidate[]) => all.map(({ elector }) => elector.isLeader());

test("the first candidate makes the lease and leads", async () => {
  const first = candidate("first");
  await until(() => first.isWorking());
  expect(world.store.lease?.spec).toEqual({
    holderIdentity: "first",
    leaseDurationSeconds: 15,
    acquireTime: "2026-01-01T00:00:00.000000Z",
    renewTime: "2026-01-01T00:00:00.000000Z",
    leaseTransitions: 0,
  });
});

test("times have six fraction digits", () => {
  expect(microTime(new Date("2026-01-02T03:04:05.678Z"))).toBe("2026-01-02T03:04:05.678000Z");
});

test("a leader renews, keeps when it acquired, and counts no transition", async () => {
  const first = candidate("first");
  await until(() => first.isWorking());
  await pass(4_000);
  await until(() => world.store.lease?.spec?.renewTime !== world.store.lease?.spec?.acquireTime);
  expect(world.store.lease?.spec).toMatchObject({ acquireTime: "2026-01-01T00:00:00.000000Z", leaseTransitions: 0 });
});

test("a follower takes over only when its own clock saw no change for the whole lease", async () => {
  // Long expired by its own times, which do not count.
  world.store.put({ holderIdentity: "dead", leaseDurationSeconds: 15, renewTime: "2020-01-01T00:00:00.000000Z" });
  const follower = candidate("follower");
  await until(() => world.clock.pending.includes(500));
  await pass(14_000);
  expect(follower.elector.isLeader()).toBe(false);
  await pass(4_000);
  await until(() => follower.isWorking());
  expect(world.store.lease?.spec).toMatchObject({ holderIdentity: "follower", leaseTransitions: 1 });
});

test("a holder that still renews keeps its followers away, whatever its wall clock says", async () => {
  world.store.put({ holderIdentity: "other", leaseDurationSeconds: 15, renewTime: "1970-01-01T00:00:00.000001Z" });
  const follower = candidate("follower");
  for (let renewal = 2; renewal < 8; renewal += 1) {
    await pass(8_000);
    world.store.put({
      holderIdentity: "other",
      leaseDurationSeconds: 15,
      renewTime: `1970-01-01T00:00:00.00000${renewal}Z`,
    });
  }
  expect(follower.elector.isLeader()).toBe(false);
});

test("a released lease is taken at once", async () => {
  world.store.put({ holderIdentity: "", leaseDurationSeconds: 1, renewTime: "2026-01-01T00:00:00.000000Z" });
  const next = candidate("next");
  await until(() => next.isWorking());
});

test("a leader that can't renew loses at its deadline, before anyone may take over", async () => {
  const first = candidate("first");
  await until(() => first.isWorking());
  world.store.isDown = true;
  await pass(9_500);
  expect(first.elector.isLeader()).toBe(true);
  await pass(500);
  expect(await first.ended).toBe("lost");
  expect([first.termEnd(), first.elector.isLeader()]).toEqual(["lost", false]);
});

test("a leader whose lease another has taken loses at the next look", async () => {
  const first = candidate("first");
  await until(() => first.isWorking());
  world.store.put({ holderIdentity: "usurper", leaseDurationSeconds: 15, renewTime: "2026-01-01T00:00:01.000000Z" });
  await pass(2_500);
  expect(await first.ended).toBe("lost");
  expect(world.store.lease?.spec?.holderIdentity).toBe("usurper");
});

test("a deleted lease is its holder's until that had its time", async () => {
  const first = candidate("first");
  await until(() => first.isWorking());
  const second = candidate("second");
  await pass(1_000);
  world.store.lease = undefined;
  await pass(1_000);
  expect(leadershipOf(first, second)).toEqual([true, false]);
  await pass(1_000);
  expect(world.store.lease).toMatchObject({ spec: { holderIdentity: "first" } });

  world.store.isDown = true;
  await pass(11_000);
  expect(await first.ended).toBe("lost");
  world.store.lease = undefined;
  world.store.isDown = false;
  await pass(5_000);
  expect(leadershipOf(second)).toEqual([true]);
});

test("a conflict is read again at once", async () => {
  world.store.put({ holderIdentity: "", leaseDurationSeconds: 1 });
  world.store.conflicts = 1;
  const first = candidate("first");
  await until(() => first.isWorking());
  expect(world.clock.monotonicMs()).toBe(0);
});

test("two candidates never lead both, through outages and restarts", async () => {
  let pair = [candidate("one"), candidate("two")];
  await until(() => leadershipOf(...pair).includes(true));
  const holders = new Set<string | undefined>();
  for (let second = 0; second < 120; second += 1) {
    world.store.isDown = second % 40 >= 25;
    await pass(1_000);
    expect(leadershipOf(...pair).filter(Boolean).length).toBeLessThanOrEqual(1);
    holders.add(world.store.lease?.spec?.holderIdentity);
    pair = pair.map((one) => (one.hasEnded() ? candidate(`restarted-${second}`) : one));
  }
  expect(holders.size).toBeGreaterThan(2);
});

test("periods without a margin are refused", () => {
  const make = () =>
    new LeaderElector({
      client: world.client,
      lease: ref,
      identity: "x",
      log: silentLog,
      leaseMs: 10_000,
      renewDeadlineMs: 9_000,
    });
  expect(make).toThrow(RangeError);
});

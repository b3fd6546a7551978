import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { createKubeClient } from "../../../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../../../../operator/kit/client/kube-client.ts";
import {
  createLeaderElector,
  type LeaderElector,
  type TermEnd,
} from "../../../../../operator/kit/leader/leader-election.ts";
import { type Lease, microTime } from "../../../../../operator/kit/leader/lease.ts";
import { silentLog } from "../../../../../operator/kit/log.ts";
import {
  type FakeApiServer,
  json,
  type SeenRequest,
  startFakeApiServer,
  status,
} from "../../../../support/doubles/fake-api-server.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { until } from "../../../../support/fixtures/until.ts";

// Waits inside have deadlines of their own, which say what did not happen.
jest.setTimeout(30_000);

const ref = { name: "the-lease", namespace: "ns" };

/** A lease as the API server keeps it: with versions, conflicts and a switch for its power. */
class LeaseStore {
  lease: Lease | undefined;
  isDown = false;
  /** How often the next writes find that another was faster. */
  conflicts = 0;
  writes = 0;
  #version = 0;

  attach(server: FakeApiServer): void {
    server.on(
      () => true,
      (request, response) => this.#answer(request)(request, response),
    );
  }

  /** Another's write, behind everyone's back. */
  put(spec: NonNullable<Lease["spec"]>): void {
    this.#version += 1;
    const metadata = {
      ...ref,
      uid: "u",
      resourceVersion: String(this.#version),
      creationTimestamp: "2026-01-01T00:00:00Z",
    };
    this.lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
  }

  #answer(request: SeenRequest) {
    if (this.isDown) return status(500, "InternalError");
    if (request.method === "GET") return this.lease === undefined ? status(404, "NotFound") : json(this.lease);
    const sent = JSON.parse(request.body) as Lease;
    if (this.conflicts > 0) {
      this.conflicts -= 1;
      return status(409, "Conflict");
    }
    if (request.method === "POST" && this.lease !== undefined) return status(409, "AlreadyExists");
    if (request.method === "PUT" && sent.metadata.resourceVersion !== this.lease?.metadata.resourceVersion) {
      return status(409, "Conflict");
    }
    this.writes += 1;
    this.put(sent.spec ?? {});
    return json(this.lease);
  }
}

interface Candidate {
  readonly elector: LeaderElector;
  readonly ended: Promise<string>;
  readonly hasEnded: () => boolean;
  readonly stop: () => void;
  readonly isWorking: () => boolean;
  readonly termEnd: () => TermEnd | undefined;
}

let server: FakeApiServer;
let store: LeaseStore;
let client: KubeClient;
let clock: TestClock;
let candidates: Candidate[];
let callsInFlight: number;

beforeEach(async () => {
  server = await startFakeApiServer();
  store = new LeaseStore();
  store.attach(server);
  callsInFlight = 0;
  client = createKubeClient({
    kubeConfig: server.kubeConfig,
    random: () => 0,
    onRequest: async (_request, next) => {
      callsInFlight += 1;
      return await next().finally(() => {
        callsInFlight -= 1;
      });
    },
  });
  clock = new TestClock();
  candidates = [];
});

afterEach(async () => {
  for (const { stop, ended } of candidates) {
    stop();
    await ended;
  }
  expect(clock.pending).toEqual([]);
  await client.close();
  await server.close();
});

function candidate(identity: string): Candidate {
  const elector = createLeaderElector({ client, lease: ref, identity, log: silentLog, clock, random: () => 0 });
  const stopping = new AbortController();
  let isWorking = false;
  let hasEnded = false;
  let termEnd: TermEnd | undefined;
  const onStartedLeading = async (signal: AbortSignal) => {
    isWorking = true;
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    termEnd = signal.reason;
    isWorking = false;
  };
  const ended = elector.run({ onStartedLeading }, stopping.signal).finally(() => {
    hasEnded = true;
  });
  const state = { isWorking: () => isWorking, hasEnded: () => hasEnded, termEnd: () => termEnd };
  const made = { elector, ended, stop: () => stopping.abort(), ...state };
  candidates.push(made);
  return made;
}

/** Moves time in steps short enough for the electors to act in between. */
async function pass(totalMs: number): Promise<void> {
  for (let passedMs = 0; passedMs < totalMs; passedMs += 500) {
    clock.advance(500);
    await settled();
  }
}

/** What a timer set in motion has come to rest: no call is in flight, and none begins. */
async function settled(): Promise<void> {
  for (let quietTurns = 0; quietTurns < 3; quietTurns = callsInFlight === 0 ? quietTurns + 1 : 0) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const leadershipOf = (...all: readonly Candidate[]) => all.map(({ elector }) => elector.isLeader());

test("the first candidate makes the lease and leads", async () => {
  const first = candidate("first");
  await until(() => first.isWorking());
  expect(store.lease?.spec).toEqual({
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
  await until(() => store.lease?.spec?.renewTime !== store.lease?.spec?.acquireTime);
  expect(store.lease?.spec).toMatchObject({ acquireTime: "2026-01-01T00:00:00.000000Z", leaseTransitions: 0 });
});

test("a follower takes over only when its own clock saw no change for the whole lease", async () => {
  // Long expired by its own account: that does not count.
  store.put({ holderIdentity: "dead", leaseDurationSeconds: 15, renewTime: "2020-01-01T00:00:00.000000Z" });
  const follower = candidate("follower");
  await until(() => clock.pending.includes(500));
  await pass(14_000);
  expect(follower.elector.isLeader()).toBe(false);
  await pass(4_000);
  await until(() => follower.isWorking());
  expect(store.lease?.spec).toMatchObject({ holderIdentity: "follower", leaseTransitions: 1 });
});

test("a holder that still renews keeps its followers away, whatever its wall clock says", async () => {
  store.put({ holderIdentity: "other", leaseDurationSeconds: 15, renewTime: "1970-01-01T00:00:00.000001Z" });
  const follower = candidate("follower");
  for (let renewal = 2; renewal < 8; renewal += 1) {
    await pass(8_000);
    store.put({ holderIdentity: "other", leaseDurationSeconds: 15, renewTime: `1970-01-01T00:00:00.00000${renewal}Z` });
  }
  expect(follower.elector.isLeader()).toBe(false);
});

test("a released lease is taken at once", async () => {
  store.put({ holderIdentity: "", leaseDurationSeconds: 1, renewTime: "2026-01-01T00:00:00.000000Z" });
  const next = candidate("next");
  await until(() => next.isWorking());
});

test("a leader that can't renew loses at its deadline, before anyone may take over", async () => {
  const first = candidate("first");
  await until(() => first.isWorking());
  store.isDown = true;
  await pass(9_500);
  expect(first.elector.isLeader()).toBe(true);
  await pass(500);
  expect(await first.ended).toBe("lost");
  expect([first.termEnd(), first.elector.isLeader()]).toEqual(["lost", false]);
});

test("a leader whose lease another has taken loses at the next look", async () => {
  const first = candidate("first");
  await until(() => first.isWorking());
  store.put({ holderIdentity: "usurper", leaseDurationSeconds: 15, renewTime: "2026-01-01T00:00:01.000000Z" });
  await pass(2_500);
  expect(await first.ended).toBe("lost");
  expect(store.lease?.spec?.holderIdentity).toBe("usurper");
});

test("a conflict is read again at once", async () => {
  store.put({ holderIdentity: "", leaseDurationSeconds: 1 });
  store.conflicts = 1;
  const first = candidate("first");
  await until(() => first.isWorking());
  expect(clock.monotonicMs()).toBe(0);
});

describe("a clean stop", () => {
  test("releases the lease, so that the next can begin", async () => {
    const first = candidate("first");
    await until(() => first.isWorking());
    first.stop();
    expect(await first.ended).toBe("released");
    expect(first.termEnd()).toBe("stopping");
    expect(store.lease?.spec).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
    const second = candidate("second");
    await until(() => second.isWorking());
    expect(clock.monotonicMs()).toBe(0);
  });

  test("keeps the lease while work drains", async () => {
    const elector = createLeaderElector({
      client,
      lease: ref,
      identity: "first",
      log: silentLog,
      clock,
      random: () => 0,
    });
    const stopping = new AbortController();
    const drained = Promise.withResolvers<void>();
    const ended = elector.run({ onStartedLeading: () => drained.promise }, stopping.signal);
    await until(() => elector.isLeader());
    stopping.abort();
    await pass(20_000);
    expect([elector.isLeader(), store.lease?.spec?.holderIdentity]).toEqual([true, "first"]);
    drained.resolve();
    expect(await ended).toBe("released");
  });

  test("of a candidate that never led writes nothing", async () => {
    store.put({ holderIdentity: "other", leaseDurationSeconds: 15 });
    const follower = candidate("follower");
    await until(() => clock.pending.includes(500));
    follower.stop();
    expect([await follower.ended, store.writes]).toEqual(["never-led", 0]);
  });
});

test("work that fails releases the lease and is reported", async () => {
  const elector = createLeaderElector({
    client,
    lease: ref,
    identity: "first",
    log: silentLog,
    clock,
    random: () => 0,
  });
  const fault = new Error("a bug");
  await expect(
    elector.run({ onStartedLeading: () => Promise.reject(fault) }, new AbortController().signal),
  ).rejects.toBe(fault);
  expect(store.lease?.spec?.holderIdentity).toBe("");
});

test("two candidates never lead both, through outages and restarts", async () => {
  let pair = [candidate("one"), candidate("two")];
  await until(() => leadershipOf(...pair).includes(true));
  const holders = new Set<string | undefined>();
  for (let second = 0; second < 120; second += 1) {
    store.isDown = second % 40 >= 25;
    await pass(1_000);
    expect(leadershipOf(...pair).filter(Boolean).length).toBeLessThanOrEqual(1);
    holders.add(store.lease?.spec?.holderIdentity);
    pair = pair.map((one) => (one.hasEnded() ? candidate(`restarted-${second}`) : one));
  }
  expect(holders.size).toBeGreaterThan(2);
});

test("periods without a margin are refused", () => {
  const make = () =>
    createLeaderElector({ client, lease: ref, identity: "x", log: silentLog, leaseMs: 10_000, renewDeadlineMs: 9_000 });
  expect(make).toThrow(RangeError);
});

import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import { KubeError } from "../../../operator/kit/client/errors.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import { LeaderElector, leases } from "../../../operator/kit/leader/leader-election.ts";
import { kubeConfigOf } from "../../support/fixtures/kube-config.ts";
import { silentLog } from "../../support/fixtures/silent-log.ts";
import { until } from "../../support/fixtures/until.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";

const plane = await controlPlane();

jest.setTimeout(60_000);

const periods = { leaseMs: 3_000, renewDeadlineMs: 2_000, retryMs: 150 };

interface Replica {
  readonly elector: LeaderElector;
  readonly client: KubeClient;
  readonly ended: Promise<string>;
  readonly stop: () => void;
  /** Cuts it off from every API server. */
  readonly cutOff: () => void;
}

let lease: { readonly name: string; readonly namespace: string };
let replicas: Replica[];

beforeEach(() => {
  lease = { name: `kit-lease-${randomUUID().slice(0, 8)}`, namespace: "default" };
  replicas = [];
});

afterEach(async () => {
  for (const { stop, ended, client } of replicas) {
    stop();
    await ended;
    await client.close();
  }
  const client = connected();
  await client.delete(leases, lease);
  await client.close();
});

function connected(isCut: () => boolean = () => false): KubeClient {
  const kubeConfig = kubeConfigOf(plane, plane.adminToken);
  return createKubeClient({
    kubeConfig,
    deadlineMs: 1_500,
    onRequest: (_request, next) =>
      isCut() ? Promise.reject(new KubeError({ status: 0, reason: "Unreachable" })) : next(),
  });
}

function replica(identity: string, its = periods): Replica {
  let isCut = false;
  const client = connected(() => isCut);
  const elector = new LeaderElector({ client, lease, identity, log: silentLog, ...its });
  const stopping = new AbortController();
  const onStartedLeading = (signal: AbortSignal) =>
    new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  const cutOff = () => {
    isCut = true;
  };
  const made = {
    elector,
    client,
    ended: elector.run({ onStartedLeading }, stopping.signal),
    stop: () => stopping.abort(),
    cutOff,
  };
  replicas.push(made);
  return made;
}

test("a clean stop hands over at once", async () => {
  const lasting = { ...periods, leaseMs: 300_000 };
  const first = replica("first", lasting);
  await until(() => first.elector.isLeader());
  const second = replica("second", lasting);
  first.stop();
  expect(await first.ended).toBe("released");
  await until(() => second.elector.isLeader(), { what: "a leader long before the lease has run out" });
});

test("a leader that is cut off gives up before its follower takes over", async () => {
  const first = replica("first");
  await until(() => first.elector.isLeader());
  const second = replica("second");
  first.cutOff();
  let bothLed = false;
  await until(
    () => {
      bothLed ||= first.elector.isLeader() && second.elector.isLeader();
      return second.elector.isLeader();
    },
    { deadlineMs: 30_000 },
  );
  expect([await first.ended, bothLed]).toEqual(["lost", false]);
  const { spec } = (await second.client.find(leases, lease)) ?? {};
  expect(spec).toMatchObject({ holderIdentity: "second", leaseTransitions: 1 });
});

test("of many candidates exactly one leads", async () => {
  const all = ["a", "b", "c", "d", "e"].map((identity) => replica(identity));
  const leaders = () => all.filter(({ elector }) => elector.isLeader()).length;
  await until(() => leaders() > 0);
  let most = 0;
  const untilMs = performance.now() + 2 * periods.leaseMs;
  await until(
    () => {
      most = Math.max(most, leaders());
      return performance.now() > untilMs;
    },
    { deadlineMs: 30_000 },
  );
  expect(most).toBe(1);
  // A candidate blocked for long loses the lease to another one.
  await until(() => leaders() === 1, { what: "one leader" });
});
